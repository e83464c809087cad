"""What report refuses to write over."""

import pytest

from tests.podium.calling import call


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    names = ("a", "b", "c")
    rows = [f"{n},{d},{i + j % 2}" for i, n in enumerate(names) for j, d in enumerate("uvwxyz")]
    path.write_text("\n".join(["loss,dataset,recall", *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    ("option", "name", "message"),
    [
        ("--output", "scores.csv", "--output must be a file that ends in .html"),
        ("--output", ".", "--output must be a file that ends in .html"),
        ("--output", "folder.html", "--output must be a file that ends in .html"),
        ("--json", "scores.csv", "--json must be a file that ends in .json"),
        ("--json", "store.json", "--json must not lie among the results"),
        ("--csv", "scores.csv", "--csv must be a folder"),
        ("--latex", "scores.csv", "--latex must be a file .tex or a folder"),
    ],
)
def test_nothing_of_the_user_is_overwritten_and_nothing_half_written(
    capsys, table, option, name, message
):
    (table.parent / "store.json").write_text("{}" if name == "store.json" else "")
    if name != "store.json":
        (table.parent / "store.json").unlink()
    (table.parent / "folder.html").mkdir()
    before = {path: path.is_file() and path.read_bytes() for path in table.parent.iterdir()}
    called = call(capsys, "report", table, "--by", "dataset", option, table.parent / name)
    assert called.code == 2
    assert message in called.err
    after = {path: path.is_file() and path.read_bytes() for path in table.parent.iterdir()}
    assert after == before
