"""``podium`` in processes of its own that need not load torch and the rest again for seconds.

One process a test worker loads what commands use, computes nothing, and forks for each call: none
shares a folder, environment, signal or module of a user with the tests or with another call. Ray
cannot be imported there, since all but `run` without --local must do without it.
"""

import atexit
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import re
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LIBRARIES = (
    "optuna",
    "polars",
    "pyarrow.dataset",
    "scipy.stats",
    "torch._inductor",  # loaded by what makes torch deterministic
)


def podium(*arguments, cwd, is_mighty=True) -> subprocess.CompletedProcess:
    """``podium ARGUMENTS`` in a process of its own, as a user calls it in the folder ``cwd``."""
    return Started(*arguments, cwd=cwd, is_mighty=is_mighty).end()


class Started:
    """A call under way, one at a time; its process gets signals at ``pid``.

    Args:
        cwd: the folder in which it is called.
        module: what is run in place of ``podium``.
        is_mighty: whether a superuser may read and write whatever the modes of files say.
    """

    def __init__(self, *arguments, cwd=ROOT, module="podium", is_mighty=True) -> None:
        self._words = [str(argument) for argument in arguments]
        self._folder = tempfile.TemporaryDirectory()
        self._files = [Path(self._folder.name, name) for name in ("out", "err")]
        request = {
            "words": self._words,
            "cwd": str(cwd),
            "environment": dict(os.environ),
            "files": list(map(str, self._files)),
            "module": module,
            "is_mighty": is_mighty,
        }
        server = _server()
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        self._answers = server.stdout
        self.pid = int(self._answers.readline())

    def end(self, seconds: float = 280) -> subprocess.CompletedProcess:
        """Wait for its end; it is killed after so many seconds."""
        killer = threading.Timer(seconds, os.kill, (self.pid, signal.SIGKILL))
        killer.start()
        code = int(self._answers.readline())
        killer.cancel()
        with self._folder:
            return subprocess.CompletedProcess(
                self._words, code, *(file.read_text() for file in self._files)
            )


@cache
def _server() -> subprocess.Popen:
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.podium.warm_process"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(server.communicate)
    return server


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    sys.modules["ray"] = None
    for name in (*_LIBRARIES, *_our_modules()):
        importlib.import_module(name)
    gc.freeze()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            answers.close()
            _be(**json.loads(line))
        print(pid, file=answers)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), file=answers)
    os._exit(0)


def _our_modules() -> list[str]:
    podium = importlib.import_module("podium")
    found = (it.name for it in pkgutil.walk_packages(podium.__path__, "podium."))
    left_out = re.compile(r".*\.executors\.(ray|tune|private_ray).*|.*__main__")
    return [name for name in found if not left_out.fullmatch(name)]


def _be(module, words, cwd, environment, files, is_mighty) -> None:
    if not is_mighty:
        version_3_of_this_process, no_capabilities = (0x20080522, 0), (0,) * 6
        ctypes.CDLL(None).capset(
            (ctypes.c_uint32 * 2)(*version_3_of_this_process),
            (ctypes.c_uint32 * 6)(*no_capabilities),
        )
    for number, file in enumerate((os.devnull, *files)):
        os.dup2(os.open(file, os.O_RDWR | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.path[0] = cwd
    sys.argv = [module, *words]
    code = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:
        code = 1
        sys.excepthook(*sys.exc_info())
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve()
