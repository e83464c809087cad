"""A page in a real browser, and what it did that it should not."""

import shutil

import pytest

PHONE = {"width": 390, "height": 844}
LAPTOP = {"width": 1280, "height": 900}

# Every size and every scheme once; the other pairs are left to the soak.
every_size_and_scheme = pytest.mark.parametrize(
    ("size", "scheme"),
    [
        pytest.param(PHONE, "dark", id="phone-dark"),
        pytest.param(LAPTOP, "light", id="laptop-light"),
        pytest.param(PHONE, "light", id="phone-light", marks=pytest.mark.soak),
        pytest.param(LAPTOP, "dark", id="laptop-dark", marks=pytest.mark.soak),
    ],
)


@pytest.fixture(scope="session")
def chromium():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
                args=["--no-sandbox", "--disable-gpu"],
            )
        except api.Error as error:
            pytest.skip(f"no Chromium to drive: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


class Visit:
    def __init__(self, browser, address, size, scheme="light", *, origin=None, **options):
        """``origin`` is that of a server of this machine which the page may ask."""
        self._allowed = ("file:", "data:", "blob:file:", *([f"{origin}/"] if origin else []))
        self.context = browser.new_context(viewport=size, color_scheme=scheme, **options)
        self.context.set_default_timeout(120_000)  # ms; a machine may have other work
        self.page = self.context.new_page()
        self.complaints = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._requested)
        self.page.goto(address)

    def _requested(self, request):
        if not request.url.startswith(self._allowed):
            self.complaints.append(request.url)

    def run(self, script):
        return self.page.evaluate(script)

    def open_all(self):
        self.run("for (const d of document.querySelectorAll('details')) d.open = true")
        self.drawn()

    def drawn(self):
        """Wait until every plot that is shown is drawn at its width."""
        self.page.wait_for_timeout(50)  # until what was opened or resized is seen
        self.page.wait_for_selector("html[data-drawn]", state="attached")
