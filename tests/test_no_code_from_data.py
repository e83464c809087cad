"""No package loads, runs or passes to a shell what a file or a study says; read from the source.

What looks dangerous and is meant is listed below, with the reason.
"""

import ast
from pathlib import Path

import pytest

from tests.module_graph import PACKAGES, ROOT

# Reading these can run code.
PICKLES = {"pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "jsonpickle"}
BUILTINS = {"eval", "exec", "compile", "__import__"}
SHELLS = {"os.system", "os.popen", "os.startfile", "pty.spawn", "tempfile.mktemp"}
SAFE_YAML = {"safe_load", "safe_dump", "SafeLoader", "MarkedYAMLError", "YAMLError"}
SAFE_YAML |= {"Node", "ScalarNode", "SequenceNode", "MappingNode", "Event", "ScalarEvent"}
SAFE_YAML |= {"CSafeLoader", "CollectionStartEvent", "CollectionEndEvent"}

# Module -> why it may start other programs. No word comes from a results folder.
STARTS_PROGRAMS = {
    "orchestrator.planning.this_machine": "asks nvidia-smi for names of GPUs; fixed words",
    "orchestrator.trials.provenance": "asks git for the commit; fixed words",
    "podium.commands.datasets_fetch": "npm, for packages of a fixed table; none of their scripts",
    "trainables.metrics._faiss": "Python, to try faiss on the GPU; fixed words",
}

# Module -> why it may import by name.
IMPORTS_BY_NAME = {
    "podium.__init__": "what it offers to Python, from a fixed table",
    "podium.cli": "commands, from a fixed table",
    "trainables.registry": "files of this package",
    "trainables.importable_code": "losses and backbones by import path or file, to run a study",
}


def _keyword(call, name):
    return next((word.value for word in call.keywords if word.arg == name), None)


def _is(value, constant):
    return isinstance(value, ast.Constant) and value.value is constant


def _imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def dangers(source, module):
    """Sentences of what is wrong with a source."""
    tree = ast.parse(source)
    yield from _dangerous_imports(tree, module)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            of = ast.unparse(node.value)
            if of in PICKLES and not node.attr.endswith("Error"):
                yield f"{of}.{node.attr} can run code"
            if of == "yaml" and node.attr not in SAFE_YAML:
                yield f"yaml.{node.attr} is not the safe way"
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            yield from _runs(node, called, module)
            yield from _loads(node, called)
            yield from _writes_html(node, called.rpartition(".")[2])


def _dangerous_imports(tree, module):
    for name in _imported(tree):
        first, _, rest = name.partition(".")
        if first in PICKLES and rest:
            yield f"imports from {first}"
        if first == "subprocess" and module not in STARTS_PROGRAMS:
            yield "starts programs"
        if first == "yaml" and rest and rest.split(".")[-1] not in SAFE_YAML:
            yield f"imports {name}"


def _runs(call, called, module):
    if called in BUILTINS or called.startswith("builtins."):
        yield f"calls {called}"
    if called in SHELLS or called.startswith(("os.exec", "os.spawn", "os.posix_spawn")):
        yield f"calls {called}"
    if _keyword(call, "shell") is not None:
        yield f"{called} is given shell"
    if called.endswith(("import_module", "exec_module")) and module not in IMPORTS_BY_NAME:
        yield "imports by name"


def _loads(call, called):
    is_pickled = called == "torch.load" or called.endswith(
        "get_state_dict"
    )  # of a file or address
    if is_pickled and not _is(_keyword(call, "weights_only"), True):
        yield f"{called} without weights_only=True"
    if called.endswith("get_state_dict") and not _is(_keyword(call, "weights_only"), True):
        yield f"{called} without weights_only=True"
    if called in {"torch.jit.load", "torch.hub.load", "torch.package.PackageImporter"}:
        yield f"{called} runs what it loads"
    if called in {"np.load", "numpy.load"} and not _is(_keyword(call, "allow_pickle"), False):
        yield "np.load without allow_pickle=False"
    if _is(_keyword(call, "allow_pickle"), True):
        yield f"{called} with allow_pickle"


def _writes_html(call, name):
    if name == "Environment" and not _is(_keyword(call, "autoescape"), True):
        yield "templates without autoescape"
    if name == "Markup" and any(isinstance(it, ast.JoinedStr | ast.BinOp) for it in call.args):
        yield "Markup of text put together: what is put in is not escaped"


def _sources():
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path, ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_no_package_runs_what_data_say():
    found = [
        f"{path}: {danger}"
        for path, module in _sources()
        for danger in dangers(path.read_text(), module)
    ]
    assert found == []


def test_what_is_meant_is_still_there():
    sources = {module: path.read_text() for path, module in _sources()}
    for listed, word in ((STARTS_PROGRAMS, "subprocess"), (IMPORTS_BY_NAME, "import_module")):
        assert {module for module, text in sources.items() if word in text} == listed.keys()


def test_no_template_switches_escaping_off():
    templates = list((ROOT / "analysis/page/templates").glob("*.j2"))
    assert templates
    for template in templates:
        text = template.read_text()
        assert "|safe" not in text.replace(" ", "")
        assert "autoescape" not in text


@pytest.mark.parametrize(
    "line",
    [
        "import pickle; pickle.loads(data)",
        "from pickle import loads",
        "import torch; torch.load(path)",
        "import torch; torch.load(path, weights_only=False)",
        "published.get_state_dict()",
        "import numpy as np; np.load(path)",
        "import numpy as np; np.load(path, allow_pickle=True)",
        "import yaml; yaml.load(text, yaml.Loader)",
        "import yaml; yaml.unsafe_load(text)",
        "from yaml import FullLoader",
        "eval(text)",
        "exec(text)",
        "__import__(text)",
        "import os; os.system(text)",
        "import os; os.execvp(text, [text])",
        "import subprocess",
        "run(text, shell=True)",
        "import importlib; importlib.import_module(text)",
        "loader.exec_module(module)",
        "Environment(loader=loader)",
        "Markup(f'<b>{text}</b>')",
        "Markup('<b>' + text)",
    ],
)
def test_each_of_these_would_be_found(line):
    assert list(dangers(line, "orchestrator.run.run_study"))


def test_this_looks_at_every_module():
    looked_at = {module.split(".")[0] for _, module in _sources()}
    assert looked_at == set(PACKAGES)
    assert Path(ROOT / "orchestrator/results/records/study_snapshot.py") in {
        path for path, _ in _sources()
    }
