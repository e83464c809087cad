"""Photographs pages in a browser."""

import io
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from PIL import Image
from playwright.sync_api import Page, sync_playwright

LAPTOP = MappingProxyType({"width": 1280, "height": 800})
PHONE = MappingProxyType({"width": 390, "height": 844})
_COLOURS = 256
_PATIENCE = 120_000  # milliseconds, of a busy machine


def photograph_plot(
    page_file: Path, figure: str, target: Path, *, part: str = ".plot > svg"
) -> None:
    """Write a PNG of the first plot of a figure, which is drawn once what it lies in is open.

    Args:
        page_file: the report.
        figure: name of the figure.
        target: file to write.
        part: selector of another part of the figure, to be photographed in place of the plot.
    """
    with _opened(page_file, LAPTOP, "light") as page:
        found = page.locator(f"#{figure}")
        found.evaluate(
            "(it) => { for (let at = it; at; at = at.parentElement)"
            " if (at.matches('details')) at.open = true; }"
        )
        found.scroll_into_view_if_needed()
        _write(found.locator(part).first.screenshot(), target)


def photograph_screen(
    page_file: Path, target: Path, *, size: Mapping[str, int] = LAPTOP, scheme: str = "light"
) -> None:
    """Write a PNG of what a reader of a report sees before scrolling.

    Args:
        page_file: the report.
        target: file to write.
        size: width and height of the screen in pixels.
        scheme: colours that the reader prefers, ``light`` or ``dark``.
    """
    with _opened(page_file, size, scheme) as page:
        _write(page.screenshot(), target)


@contextmanager
def _opened(page_file: Path, size: Mapping[str, int], scheme: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        page = browser.new_page(viewport=dict(size), color_scheme=scheme)
        page.set_default_timeout(_PATIENCE)
        page.goto(page_file.absolute().as_uri())
        page.wait_for_timeout(100)  # until plots are seen
        page.wait_for_selector("html[data-drawn]", state="attached")
        yield page
        browser.close()


def _write(png: bytes, target: Path) -> None:
    # Maximum coverage keeps the few coloured lines, which a median cut turns grey; means of what
    # is near each colour keep grey from being tinted by pictures.
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image = image.quantize(
        _COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE
    )
    image.save(target, optimize=True)
    print(f"{target}: {target.stat().st_size / 1000:.0f} kB")
