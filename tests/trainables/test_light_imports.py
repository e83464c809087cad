"""What a trial must do without, since workers and GPU machines may lack it."""

import subprocess
import sys

CODE = """
import importlib.abc, importlib, pkgutil, sys

class Forbid(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {forbidden!r}:
            raise ImportError(f"{{name}} is forbidden here")
        return None

sys.meta_path.insert(0, Forbid())
{body}
"""

HEAVY = {"ray", "optuna", "faiss", "polars", "pyarrow", "scipy", "search_spaces", "orchestrator"}


def run(forbidden, body):
    code = CODE.format(forbidden=forbidden, body=body)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_trial_runs_without_scheduler_search_or_store(cache_folder):
    output = run(
        HEAVY,
        f"""
from podium import trainables
for module in pkgutil.walk_packages(trainables.__path__, "podium.trainables."):
    importlib.import_module(module.name)
from tests.trainables.tiny_trials import tiny_trial
from podium.trainables.trial.run_trial import run_trial
print(len(list(run_trial(tiny_trial({cache_folder!r})))))
""",
    )
    assert output.strip() == "3"


def test_what_plans_need_of_trials_is_there_without_torch():
    run(
        HEAVY | {"torch", "matplotlib", "fontTools"},
        """
for name in ("settings.trial_settings", "trial_reports", "recipes", "errors", "registry",
             "hashing",
             "dataset_interface.load_dataset", "dataset_interface.class_splits", "datasets.glyphs",
             "batch_samplers.balanced", "batch_samplers.random", "network.initial_weights"):
    importlib.import_module(f"podium.trainables.{name}")
for name in ("design_analysis", "t_test_power"):
    importlib.import_module(f"podium.analysis.estimates.{name}")
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.network.backbone_facts import backbone_facts
from podium.trainables.settings.trial_settings import DatasetSettings
dataset_facts(DatasetSettings(name="glyphs"))
assert backbone_facts("conv_small").side_multiple == 32
""",
    )
