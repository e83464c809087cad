"""The shape of the code base, held by its own source: arrows, cycles, weight, length, names."""

import ast
import collections
import re

import pytest

from tests.module_graph import PACKAGES, ROOT, as_in_tree, modules
from tests.rooms import CATALOGUES, LOOKED_FOR_BY_NAME, MAX_FILES, ROOMS

MAX_LINES = 500

# A module below this length is not apart from its only importer without a reason.
WHOLE_LINES = 120

# Parts of packages that count as packages of their own here.
PARTS = ("orchestrator.results", "podium.errors", "podium.kept_files")

# Package -> what else of ours it may import.
ARROWS = {
    "podium.errors": set(),
    "podium.kept_files": {"podium.errors"},
    "search_spaces": set(),
    "trainables": {"podium.errors", "podium.kept_files"},
    "orchestrator": {"search_spaces", "trainables", *PARTS},
    "orchestrator.results": {"podium.errors", "podium.kept_files"},
    "analysis": {"orchestrator.results", "podium.errors", "podium.kept_files"},
    "podium": {"search_spaces", "trainables", "orchestrator", "analysis", *PARTS},
}

# Package -> libraries it never imports, at the top or anywhere else.
FORBIDDEN = {
    "search_spaces": {"torch", "ray", "optuna", "polars", "pyarrow", "scipy", "numpy"},
    "trainables": {"ray", "optuna", "polars", "pyarrow"},
    "orchestrator": {"scipy", "matplotlib"},
    "orchestrator.results": {"torch", "ray", "optuna", "scipy", "matplotlib"},
    "analysis": {"torch", "ray", "optuna"},
    "podium": set(),
    "podium.errors": set(),
    "podium.kept_files": {"torch"},
}

# Module -> what it may import all the same: only runs load it.
ALLOWED = {"orchestrator.search_samplers.quasi_monte_carlo": {"scipy"}}

# Modules that plans, hashes and command lines load -> libraries that must not come with them.
LIGHT = {
    "search_spaces.": {"torch"},
    "trainables.settings.": {"torch"},
    "trainables.trial_reports": {"torch"},
    "trainables.recipes": {"torch"},
    "trainables.errors": {"torch"},
    "trainables.registry": {"torch"},
    "trainables.file_caches.": {"torch"},
    "trainables.dataset_interface.": {"torch"},
    "trainables.datasets.": {"torch"},
    "trainables.dataset_readers.": {"torch"},
    "trainables.batch_samplers.": {"torch"},
    "orchestrator.study.": {"torch", "ray", "optuna", "polars", "scipy", "pyarrow"},
    "orchestrator.study_parser.": {"torch", "ray", "optuna", "polars", "scipy", "pyarrow"},
    "orchestrator.study_validation.": {"torch", "ray", "optuna", "polars", "scipy", "pyarrow"},
    "orchestrator.planning.study_plan": {"torch", "ray", "optuna", "polars", "scipy", "pyarrow"},
    "orchestrator.planning.": {"torch", "ray", "optuna", "scipy"},
    "podium.": {"torch", "ray", "optuna"},
    "podium.cli": {"torch", "ray", "optuna", "polars", "scipy", "pyarrow", "numpy"},
    "podium.commands.plan": {"torch", "ray", "optuna", "polars", "scipy", "pyarrow"},
    "podium.commands.report": {"torch", "ray", "optuna", "scipy", "matplotlib"},
}

# Module -> why it may be heavy all the same.
HEAVY = {
    "podium.optuna_journal": "writes what Optuna reads; imported when it is asked",
}


def package_of(name):
    parts = [part for part in PARTS if f"{name}.".startswith(f"{part}.")]
    return parts[0] if parts else name.split(".")[0]


def loaded_with(name):
    """Every module and library that importing ``name`` loads, as far as our source tells."""
    found, waiting = set(), [name]
    while waiting:
        current = waiting.pop()
        if current in found:
            continue
        found.add(current)
        waiting += [".".join(current.split(".")[:n]) for n in range(1, current.count(".") + 1)]
        if current in modules():
            waiting += modules()[current].needs
    return found


def test_the_packages_are_all_there():
    assert {package_of(name) for name in modules()} == set(ARROWS)
    assert len(modules()) > 50


def test_imports_follow_the_arrows():
    against = [
        f"{name} imports {other}"
        for name, module in modules().items()
        for other in module.imports
        if other.split(".")[0] in PACKAGES
        and package_of(other) not in {package_of(name), *ARROWS[package_of(name)]}
    ]
    assert against == []


def test_no_package_imports_a_library_it_must_do_without():
    against = [
        f"{name} imports {other}"
        for name, module in modules().items()
        for other in module.imports
        if other.split(".")[0] in FORBIDDEN[package_of(name)] - ALLOWED.get(name, set())
    ]
    assert against == []


def test_only_executors_import_ray():
    users = {name for name, module in modules().items() if loads(module.imports, "ray")}
    assert {name for name in users if not name.startswith("orchestrator.executors.")} == set()


def test_only_one_module_imports_faiss_and_only_when_it_searches():
    users = {name for name, module in modules().items() if loads(module.imports, "faiss")}
    assert users == {"trainables.metrics._faiss"}
    assert not loads(modules()["trainables.metrics._faiss"].needs, "faiss")


@pytest.mark.parametrize("prefix", LIGHT)
def test_what_must_be_light_loads_nothing_heavy(prefix):
    names = [name for name in modules() if name.startswith(prefix) and name not in HEAVY]
    assert names
    heavy = [
        f"{name} loads {library}"
        for name in names
        for library in LIGHT[prefix]
        if loads(loaded_with(name), library)
    ]
    assert heavy == []


def loads(imported, library):
    return any(name.split(".")[0] == library for name in imported)


def test_no_modules_import_each_other_in_a_circle():
    needs = {
        name: {other for other in module.needs if other in modules()} - {name}
        for name, module in modules().items()
    }
    # Whatever needs nothing that is left is taken away; only circles, and what needs them, stay.
    while free := [name for name, others in needs.items() if not others & needs.keys()]:
        for name in free:
            del needs[name]
    assert needs == {}


@pytest.mark.parametrize("folder", [*PACKAGES, "tests", "benchmarks"])
def test_no_file_is_longer_than_it_can_be_read(folder):
    lengths = {
        str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines())
        for file in (ROOT / folder).rglob("*.py")
    }
    assert {file: lines for file, lines in lengths.items() if lines > MAX_LINES} == {}


@pytest.mark.parametrize("folder", ["tests", "benchmarks", "docs"])
def test_what_is_imported_from_the_packages_is_there(folder):
    wrong = [
        f"{file.relative_to(ROOT)}: {module}.{alias.name}"
        for file in (ROOT / folder).rglob("*.py")
        for node, module in _imports(ast.parse(file.read_text(encoding="utf-8")))
        for alias in node.names
        if as_in_tree(f"{module}.{alias.name}") not in modules()
        and (module not in modules() or alias.name not in modules()[module].defined_names())
    ]
    assert wrong == []


def _imports(tree):
    """Every ``from`` that imports of ours, and what it imports from, by its place in the tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "podium":
            yield node, as_in_tree(node.module)


@pytest.mark.parametrize("folder", [*PACKAGES, "tests", "benchmarks", "docs"])
def test_whatever_is_imported_of_podium_is_imported_by_that_name(folder):
    """The folders at the top are copies to Python, whose classes would be others."""
    others = "|".join(name for name in PACKAGES if name != "podium")
    bare = re.compile(rf"^\s*(from|import) ({others})\b", re.MULTILINE)
    files = (ROOT / folder).rglob("*.py")
    assert [file for file in files if bare.search(file.read_text(encoding="utf-8"))] == []


def test_private_names_stay_in_their_module():
    shared = [
        f"{name}: {origin}.{alias.name}"
        for name, module in modules().items()
        for node, origin in _imports(module.tree)
        for alias in node.names
        if alias.name.startswith("_") and f"{origin}.{alias.name}" not in modules()
    ]
    assert shared == []


def test_no_public_name_is_for_tests_alone():
    """Catalogues aside, whose entries are found by the name of their file."""
    texts = [
        file.read_text(encoding="utf-8")
        for folder in (*PACKAGES, "benchmarks", "docs")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in (".py", ".j2")
    ]
    counts = collections.Counter(word for text in texts for word in re.findall(r"\w+", text))
    unused = [
        f"{name}.{node.name}"
        for name, module in modules().items()
        if room_of(name) not in CATALOGUES
        for node in module.tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
        and counts[node.name] == 1
        and not node.name.startswith("__")  # Python's: it looks them up in a module
    ]
    assert unused == []


def room_of(name):
    """``analysis/scores`` for ``analysis.scores.final_scores``."""
    is_package = modules()[name].file.stem == "__init__"
    return (name if is_package else name.rpartition(".")[0]).replace(".", "/")


def between_rooms():
    """Module, what it imports, and the rooms of both, wherever these differ."""
    for name, module in modules().items():
        for other in module.imports & modules().keys():
            if room_of(name) != room_of(other):
                yield name, other, room_of(name), room_of(other)


def test_every_room_is_in_the_table():
    assert {room_of(name) for name in modules()} == set(ROOMS)


def test_rooms_import_what_the_table_lets_them():
    against = [
        f"{name} imports {other}" for name, other, a, b in between_rooms() if b not in ROOMS[a]
    ]
    assert against == []


def test_the_table_allows_nothing_that_nobody_needs():
    needed = {(a, b) for _, _, a, b in between_rooms()}
    assert {(a, b) for a, allowed in ROOMS.items() for b in allowed} - needed == set()


def test_rooms_do_not_need_each_other_in_a_circle():
    above = set()
    for room, allowed in reversed(ROOMS.items()):  # from the lowest level up
        assert allowed <= above, f"{room} stands below {sorted(allowed - above)}"
        above.add(room)


def test_private_modules_stay_in_their_room():
    against = [
        f"{name} imports {other}"
        for name, other, _, _ in between_rooms()
        if other.rpartition(".")[2].startswith("_")
    ]
    assert against == []


def test_no_room_is_crowded():
    counts = collections.Counter(
        room_of(name) for name, module in modules().items() if module.file.stem != "__init__"
    )
    assert {
        room: count
        for room, count in counts.items()
        if count > MAX_FILES and room not in CATALOGUES
    } == {}


def test_rooms_lie_at_most_two_levels_deep():
    assert [room for room in ROOMS if room.count("/") > 2] == []


def test_every_room_says_what_it_holds():
    texts = {
        room: ast.get_docstring(modules()[room.replace("/", ".")].tree) or "" for room in ROOMS
    }
    assert {room for room, text in texts.items() if not text.partition("\n")[0]} == set()


def test_a_small_module_with_one_importer_is_part_of_it_unless_people_look_for_its_name():
    importers = collections.defaultdict(set)
    for name, module in modules().items():
        for other in module.imports & modules().keys():
            importers[other].add(name)
    apart = {
        name
        for name, module in modules().items()
        if len(importers[name]) == 1
        and {room_of(name)} == {room_of(other) for other in importers[name]}
        and room_of(name) not in CATALOGUES
        and len(module.file.read_text(encoding="utf-8").splitlines()) < WHOLE_LINES
    }
    assert apart - LOOKED_FOR_BY_NAME == set()
    assert LOOKED_FOR_BY_NAME - modules().keys() == set()


def test_tests_lie_in_the_folders_of_what_they_test():
    folders = {
        str(file.parent.relative_to(ROOT / "tests"))
        for package in PACKAGES
        for file in (ROOT / "tests" / package).rglob("test_*.py")
    }
    assert folders - ROOMS.keys() == set()
