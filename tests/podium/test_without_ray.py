"""Ray is loaded by `run` without --local alone: all else works where it cannot be imported."""

import subprocess
import sys

from tests.podium.kept_studies import STUDY

COMMANDS = """
import sys
sys.modules["ray"] = None
from podium.cli import main
for words in ("plan", "run --local", "status", "trials", "verify", "report"):
    command, *options = words.split()
    try:
        main([command, "tiny.yaml", *options])
    except SystemExit as ended:
        assert not ended.code, (words, ended.code)
"""


def test_every_other_command_works_where_ray_cannot_be_imported(tmp_path):
    (tmp_path / "tiny.yaml").write_text(STUDY)
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "podium-results/tiny/report.html").exists()
