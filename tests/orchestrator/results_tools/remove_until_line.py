"""Removes a results folder and kills itself at a line: FOLDER LINE (0: print how many there are).

Lines of the orchestrator's own modules count, in the order in which they run.
"""

import os
import signal
import sys
from pathlib import Path

from orchestrator.results.storage.locations import parse_place
from orchestrator.results_tools.remove_study import remove_study

OURS = str(Path(sys.modules[remove_study.__module__].__file__).parents[1])


def main() -> None:
    folder, last = parse_place(sys.argv[1]), int(sys.argv[2])
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        if event == "line":
            lines += 1
            if lines == last:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    remove_study(folder, print)
    sys.settrace(None)
    print(lines)


if __name__ == "__main__":
    main()
