"""A matplotlib figure as inline SVG, several on one HTML page, and marks that keep it small."""

import io
import itertools
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from analysis.figures.series import OTHER_COLOUR, SERIES_COLOURS
from analysis.figures.style import INK, PAPER

_COLOURS = {
    INK: "currentColor",
    PAPER: "var(--paper)",
    OTHER_COLOUR: "var(--series-other)",
    **{colour: f"var(--series-{i})" for i, colour in enumerate(SERIES_COLOURS)},
}
_COLOUR = re.compile("|".join(_COLOURS))
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_FONT_FAMILY = re.compile(r"; font-family: [^;]*")
_NO_ROTATION = re.compile(r"rotate\(-?0 .*\)")
_OPACITY = re.compile(r"(?:^|; )opacity:")  # of a group it is not that of each of its marks
_MANY_MARKS = 10
_SMALL_PX = 420  # figures up to this width shrink to a narrow page, wider ones scroll
_LONG_NUMBER = re.compile(r"(\d\.\d\d)\d+")
_HREF = "{http://www.w3.org/1999/xlink}href"
_GAP = float("nan")  # between lines of one path

Box = tuple[float, float, float, float]
"""Left, right, lower and upper end."""


def inline_svg(figure: Figure, *, name: str, title: str, description: str) -> Markup:
    """The figure as an ``<svg>`` element; equal figures give equal bytes.

    Only ids that are referred to stay, and ``name`` is put before them, so that figures of
    different names do not collide. Ink becomes currentColor, fonts are the page's. Matplotlib's
    style element is dropped, since it would apply to the whole page; the page has to give
    ``svg.plot`` round line joins.

    Args:
        figure: drawn within the block of `analysis.figures.style.drawing` that calls this.
        name: name of the figure, unique within the page; letters, digits and ``-``.
        title: text read out as the figure's name.
        description: text read out after it: what the figure shows.
    """
    root = _rendered(figure)
    _simplify(root)
    _rename_ids(root, name)
    for element in root.iter():
        _restyle(element)
    _share_styles(root)
    _label(root, name, title, description)
    return Markup(ET.tostring(root, encoding="unicode").replace(" />", "/>"))


def draw_boxes(axes: Axes, boxes: Sequence[Box], *, colour: str, alpha: float = 1.0) -> None:
    """Filled rectangles without edges; none for no boxes."""
    if boxes:
        corners = [
            ((left, low), (right, low), (right, high), (left, high), (left, low))
            for left, right, low, high in boxes
        ]
        paths = [Path(list(corner), closed=True) for corner in corners]
        patch = PathPatch(
            Path.make_compound_path(*paths), facecolor=colour, alpha=alpha, linewidth=0
        )
        axes.add_patch(patch)


def draw_dashes(axes: Axes, boxes: Sequence[Box], *, colour: str, width: float) -> None:
    """Straight lines from the left lower to the right upper corner of each box."""
    xs = itertools.chain.from_iterable((left, right, _GAP) for left, right, _, _ in boxes)
    ys = itertools.chain.from_iterable((low, high, _GAP) for _, _, low, high in boxes)
    axes.plot(list(xs), list(ys), color=colour, linewidth=width, solid_capstyle="butt")


def _rendered(figure: Figure) -> ET.Element:
    """Matplotlib's own SVG, without XML namespaces."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    root = ET.fromstring(buffer.getvalue())
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if _HREF in element.attrib:
            element.set("href", element.attrib.pop(_HREF))
    return root


def _simplify(parent: ET.Element) -> None:
    """Drop white space, metadata, style elements, and groups that only group."""
    kept: list[ET.Element] = []
    for child in parent:
        child.tail = None
        if child.tag in ("metadata", "style"):
            continue
        _simplify(child)
        child.attrib.pop("id" if child.tag == "g" else "", None)
        if child.tag in ("g", "defs") and not len(child):
            continue
        kept.extend(child if child.tag == "g" and not child.attrib else [child])
    parent[:] = kept
    if len(parent):
        parent.text = None


def _rename_ids(root: ET.Element, name: str) -> None:
    used = set(_references(root))
    for element in root.iter():
        given = element.attrib.pop("id", None)
        for key, value in element.attrib.items():
            element.set(key, _REFERENCE.sub(rf"url(#{name}-\1)", value))
        if given in used:
            element.set("id", f"{name}-{given}")
        if "href" in element.attrib:
            element.set("href", f"#{name}-{element.attrib['href'].removeprefix('#')}")


def _references(root: ET.Element) -> Iterator[str]:
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "href":
                yield value.removeprefix("#")
            yield from _REFERENCE.findall(value)


def _restyle(element: ET.Element) -> None:
    style = element.get("style")
    if style is not None:
        style = _COLOUR.sub(lambda found: _COLOURS[found[0]], style)
        element.set("style", _FONT_FAMILY.sub("", style))
    for key in ("d", "x", "y"):
        if key in element.attrib:
            element.set(key, _LONG_NUMBER.sub(r"\1", element.attrib[key]).strip())
    if _NO_ROTATION.fullmatch(element.get("transform", "")):
        del element.attrib["transform"]


def _share_styles(parent: ET.Element) -> None:
    """Many neighbouring marks of one style become a group that has the style once."""
    shared = []
    for style, run in itertools.groupby(list(parent), key=_mark_style):
        elements = list(run)
        if style is None or len(elements) < _MANY_MARKS:
            for element in elements:
                _share_styles(element)
            shared += elements
            continue
        group = ET.Element("g", {"style": style})
        for element in elements:
            del element.attrib["style"]
        group.extend(elements)
        shared.append(group)
    parent[:] = shared


def _mark_style(element: ET.Element) -> str | None:
    """The style of a mark; None for other elements, and where a group would change the look."""
    style = element.get("style")
    is_shareable = element.tag == "use" and style is not None and not _OPACITY.search(style)
    return style if is_shareable else None


def _label(root: ET.Element, name: str, title: str, description: str) -> None:
    box = root.attrib["viewBox"]
    is_small = float(box.split()[2]) <= _SMALL_PX
    root.attrib = {
        "class": "plot small" if is_small else "plot",
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-desc",
        "width": box.split()[2],
        "viewBox": box,
    }
    for position, (tag, text) in enumerate({"title": title, "desc": description}.items()):
        element = ET.Element(tag, {"id": f"{name}-{tag}"})
        element.text = text
        root.insert(position, element)
