"""Where faiss is installed but does not work, torch searches, and one warning says why."""

import subprocess
import sys
import warnings

import pytest
import torch

from podium.trainables.metrics import _faiss
from podium.trainables.metrics._screening import largest_products

WORKS = """
METRIC_INNER_PRODUCT = 0
class StandardGpuResources: pass
"""
# What a library of another CUDA version may do as it is loaded, or only as it is used.
BROKEN = {
    "libcublas.so.12: cannot open": (
        "raise ImportError('libcublas.so.12: cannot open shared object file')"
    ),
    "No module named 'packaging_that_is_not_there'": "import packaging_that_is_not_there",
    "undefined symbol": "raise OSError('undefined symbol: cudaGetDriverEntryPoint')",
}


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Put a module called faiss in place of what is installed."""

    def install(text):
        (tmp_path / "faiss.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)

    real = sys.modules.pop("faiss", None)
    for remembered in (_faiss.can_search, _faiss._faiss):
        remembered.cache_clear()
    yield install
    sys.modules.pop("faiss", None)
    if real is not None:
        sys.modules["faiss"] = real
    for remembered in (_faiss.can_search, _faiss._faiss):
        remembered.cache_clear()


@pytest.mark.parametrize("problem", BROKEN)
def test_a_library_that_cannot_be_loaded_is_one_warning_and_torch_searches(installed, problem):
    installed(BROKEN[problem])
    rows = torch.eye(4)
    with pytest.warns(
        RuntimeWarning, match="torch does in its place, with the same scores"
    ) as told:
        _, indices = largest_products(rows, rows, 1)
    assert problem in str(told[0].message)
    assert indices.ravel().tolist() == [0, 1, 2, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not _faiss.can_search("cpu")


def test_without_faiss_there_is_nothing_to_say(installed):
    installed("raise ModuleNotFoundError(\"No module named 'faiss'\", name='faiss')")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not _faiss.can_search("cpu")
        assert not _faiss.can_search("cuda")


def test_a_build_for_cpus_is_not_asked_to_search_on_a_gpu(installed):
    installed("")
    assert _faiss.can_search("cpu")
    assert not _faiss.can_search("cuda")


@pytest.mark.parametrize(
    ("search", "told"),
    [
        ("raise RuntimeError('CUDA driver version is insufficient')", "driver version is insuff"),
        ("import os; os.abort()", "exit code -6"),
        ("return None, __import__('numpy').array([[1], [1]])", "AssertionError: .*1"),
    ],
)
def test_a_search_that_fails_on_the_gpu_is_a_warning_even_where_it_ends_the_process(
    installed, monkeypatch, search, told
):
    installed(WORKS + f"def knn_gpu(*given, metric):\n    {search}\n")
    _run_with_a_gpu(monkeypatch)
    with pytest.warns(RuntimeWarning, match=told):
        assert not _faiss.can_search("cuda")


def test_a_search_that_works_on_the_gpu_is_used(installed, monkeypatch):
    found = "return None, __import__('numpy').array([[0], [1]])"
    installed(WORKS + f"def knn_gpu(*given, metric):\n    {found}\n")
    _run_with_a_gpu(monkeypatch)
    assert _faiss.can_search("cuda")


def _run_with_a_gpu(monkeypatch):
    """Let the other process do without torch, and find the faiss of this one."""
    text = _faiss._SEARCH_ON_GPU.replace('torch.zeros(1, device="cuda")', "")
    text = text.replace("import torch, ", "import ").replace("torch.eye(2).numpy()", "None")
    folder = sys.path[0]
    monkeypatch.setattr(
        _faiss, "_SEARCH_ON_GPU", f"import sys; sys.path.insert(0, {folder!r})\n{text}"
    )


@pytest.mark.gpu
def test_faiss_searches_beside_torch_on_the_gpu():
    """Libraries of two versions of CUDA in one process."""
    faiss = pytest.importorskip("faiss")
    if not hasattr(faiss, "StandardGpuResources"):
        pytest.skip("this faiss has no GPU part")
    done = subprocess.run(
        [sys.executable, "-c", _faiss._SEARCH_ON_GPU], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = torch.randn(500, 64, generator=torch.Generator().manual_seed(0))
    products, indices = _faiss.largest_products(rows.cuda(), rows.cuda(), 3)
    expected = (rows @ rows.T).topk(3, dim=1)
    assert torch.equal(indices.cpu(), expected.indices)
    torch.testing.assert_close(products.cpu(), expected.values, rtol=1e-4, atol=1e-4)
