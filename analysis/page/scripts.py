"""The scripts of a page: its own, those of its kinds of plots, and the library they use."""

import base64
import hashlib
from collections.abc import Collection
from pathlib import Path

_HERE = Path(__file__).parent
_KINDS = _HERE.parent / "figures"

# In this order; what is defined in the first is known to all.
_SCRIPTS = (
    *("core", "plots", "choices", "highlight", "tables", "saving", "downloads"),
    *("retrieval", "contents"),
)

PLOT_LIBRARY = (_HERE / "vendor" / "plot.min.js").read_text(encoding="utf-8")
"""Observable Plot, which draws the plots: the script that defines ``Plot``."""


def page_script(kinds: Collection[str]) -> str:
    """The page's own script, each of its files in a block of its own but for the first.

    Args:
        kinds: kinds of the plots of the page, whose scripts come with it.
    """
    core, *others = (_HERE / "script" / f"{name}.js" for name in _SCRIPTS)
    files = (*(_KINDS / f"{kind}.js" for kind in sorted(kinds)), *others)
    blocks = [f"{{\n{file.read_text(encoding='utf-8')}}}\n" for file in files]
    return core.read_text(encoding="utf-8") + "".join(blocks)


def content_security_policy(script: str) -> str:
    """What the page may do: run these scripts alone, and load nothing but its own images.

    Args:
        script: the page's own script.
    """
    allowed = " ".join(f"'{_digest(text)}'" for text in (script, PLOT_LIBRARY))
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"


def _digest(script: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"
