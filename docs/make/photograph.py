"""Photographs a part of a report."""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from analysis.report.report import study_page

_WIDTH = 1280
_COLOURS = 256


def photograph(folder: Path, part: str, target: Path, *, from_top: bool = False) -> None:
    """Write a PNG of the first element of a study's report that a CSS selector finds.

    Args:
        folder: of results.
        part: the selector.
        target: file to write.
        from_top: whether the picture begins at the top of the page and ends with the element.
    """
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        page_file = Path(scratch) / "report.html"
        page_file.write_text(study_page(folder), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        page = browser.new_page(viewport={"width": _WIDTH, "height": 800}, color_scheme="light")
        page.goto(page_file.as_uri())
        found = page.locator(part).first
        found.evaluate("(part) => part.closest('details.chapter')?.setAttribute('open', '')")
        page.wait_for_timeout(100)  # until what was opened is seen
        page.wait_for_selector("html[data-drawn]", state="attached")
        box = found.bounding_box()
        assert box is not None, f"the report has a part {part}"
        if from_top:
            page.set_viewport_size({"width": _WIDTH, "height": round(box["y"] + box["height"])})
        png = page.screenshot() if from_top else found.screenshot()
        browser.close()
    # Maximum coverage keeps the few coloured lines, which a median cut turns grey.
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image = image.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    image.save(target, optimize=True)
    print(f"{target}: {target.stat().st_size / 1000:.0f} kB")
