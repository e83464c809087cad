"""What only reads or controls a study needs none of its data on this machine."""

import pytest

from tests.orchestrator.run.test_feature_studies import photographs
from tests.podium.calling import call
from tests.soak import soak
from tests.trainables.feature_folder import write_feature_folder

STUDY = """
study: away
datasets: [{{name: {name}, root: data}}]
backbones: [{backbone}]
{sizes}
embedding_dims: [8]
losses: [contrastive, triplet]
protocol: {{val_fraction: 0.4}}
search: {{trials: 2, early_stopping: none}}
final: {{seeds: 1}}
training: {{epochs: 1}}
"""


@pytest.mark.parametrize("name", ["folder", *soak("features")])
def test_readers_and_control_do_without_the_data(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if name == "folder":
        photographs(tmp_path / "data")
        text = STUDY.format(name=name, backbone="conv_small", sizes="image_sizes: [32]")
    else:
        write_feature_folder(tmp_path / "data")
        text = STUDY.format(name=name, backbone="mlp", sizes="")
    (tmp_path / "away.yaml").write_text(text)
    assert call(capsys, "run", "away.yaml", "--local").code == 0
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    results = "podium-results/away"
    for command in ("status", "verify", "trials", "report", "tournament", "importance"):
        called = call(capsys, command, results)
        assert called.code == 0, called.err
    assert call(capsys, "control", "pause", results).code == 0
    assert "complete" in call(capsys, "status").out
    called = call(capsys, "run", results, "--local")
    assert called.code == 2
    assert "data" in called.err
