"""A page in Firefox, driven by its own protocol, Marionette, without a further program."""

import json
import shutil
import socket
import subprocess
import time

import pytest

_PATIENCE = 120  # seconds; a machine may have other work
_PREFERENCES = """\
user_pref("marionette.port", 0);
user_pref("app.update.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
"""


@pytest.fixture(scope="session")
def firefox(tmp_path_factory):
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("Firefox is not installed")
    profile = tmp_path_factory.mktemp("profile")
    (profile / "user.js").write_text(_PREFERENCES)
    command = [program, "--headless", "--no-remote", "--marionette", "--profile", str(profile)]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **silent) as process:
        try:
            with Firefox(_port(profile / "MarionetteActivePort")) as browser:
                yield browser
        finally:
            process.terminate()


def _port(file):
    """The port that Firefox chose, once it listens there."""
    end = time.monotonic() + _PATIENCE
    while not file.exists() or not file.read_text().strip():
        assert time.monotonic() < end, "Firefox did not start"
        time.sleep(0.05)
    return int(file.read_text())


class Firefox:
    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE)
        self._stream = self._socket.makefile("rb")
        self._receive()  # its greeting
        self._number = 0
        self._ask("WebDriver:NewSession", capabilities={})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stream.close()
        self._socket.close()

    def open(self, address, size):
        """Open a page in a window of this inner size, and wait until its plots are drawn."""
        self._ask("WebDriver:SetWindowRect", **size)
        self._ask("WebDriver:Navigate", url=address)
        frame = self.run("[outerWidth - innerWidth, outerHeight - innerHeight]")
        outer = {side: size[side] + more for side, more in zip(size, frame, strict=True)}
        self._ask("WebDriver:SetWindowRect", **outer)
        self.drawn()

    def run(self, script):
        """The value of an expression in the page."""
        return self._ask("WebDriver:ExecuteScript", script=f"return {script}", args=[])["value"]

    def drawn(self):
        end = time.monotonic() + _PATIENCE
        time.sleep(0.2)  # until what was opened or resized is seen
        while not self.run("document.documentElement.hasAttribute('data-drawn')"):
            assert time.monotonic() < end, "the plots are not drawn"
            time.sleep(0.05)

    def click(self, selector):
        found = self._ask("WebDriver:FindElement", using="css selector", value=selector)
        (element,) = found["value"].values()
        self._ask("WebDriver:ElementClick", id=element)

    def _ask(self, command, **parameters):
        self._number += 1
        text = json.dumps([0, self._number, command, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(text), text))
        _, number, error, result = self._receive()
        assert number == self._number
        assert error is None, error
        return result

    def _receive(self):
        digits = b""
        while (byte := self._stream.read(1)) != b":":
            assert byte, "Firefox is gone"
            digits += byte
        return json.loads(self._stream.read(int(digits)))
