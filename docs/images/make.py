"""Makes the README's picture, docs/images/quickstart.png, from a finished run of the quickstart.

python -m docs.images.make [podium-results/quickstart]
"""

import argparse
import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from analysis.report import study_page

_TARGET = Path(__file__).with_name("quickstart.png")
_WIDTH = 1100
_COLOURS = 256


def main() -> None:
    """Photograph the report from its top to the end of the figures on tuning."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default="podium-results/quickstart")
    png = _photograph(study_page(parser.parse_args().folder))
    # Maximum coverage keeps the few coloured lines, which a median cut turns grey.
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image = image.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    image.save(_TARGET, optimize=True)
    print(f"{_TARGET}: {_TARGET.stat().st_size / 1000:.0f} kB")


def _photograph(html: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "report.html"
        page_file.write_text(html, encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        page = browser.new_page(viewport={"width": _WIDTH, "height": 900}, color_scheme="light")
        page.goto(page_file.as_uri())
        end = page.locator("#tuning .side-by-side").bounding_box()
        assert end is not None, "a finished run has a section on tuning"
        bottom = end["y"] + end["height"]
        page.set_viewport_size({"width": _WIDTH, "height": round(bottom)})
        png = page.screenshot()
        browser.close()
    return png


if __name__ == "__main__":
    main()
