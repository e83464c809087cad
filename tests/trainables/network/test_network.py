"""Precision, memory format and compilation of a trial's network."""

import shutil
from functools import partial

import pytest
import torch

from podium.trainables.errors import TrialInputError
from podium.trainables.network.network import Network
from tests.trainables.tiny_networks import CPU, settings, tiny_embedder, tiny_images, tiny_network

IMAGES = tiny_images(6)
HAS_COMPILER = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")


class Watched(torch.nn.Module):
    """Notes in what type and memory format a convolution works."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.types = []
        self.is_channels_last = []

    def forward(self, images):
        self.is_channels_last.append(images.is_contiguous(memory_format=torch.channels_last))
        found = self.inner(images)
        self.types.append(found.dtype)
        return found


def watched(**changes):
    training = settings(**changes)
    embedder = tiny_embedder(training)
    convolution = Watched(embedder.backbone.convolution)
    embedder.backbone.convolution = convolution
    convolution.weight = convolution.inner.weight
    return Network(embedder, training, CPU), convolution


@pytest.mark.parametrize(
    ("precision", "inside"), [("float32", torch.float32), ("bf16", torch.bfloat16)]
)
@pytest.mark.parametrize("mode", ["train", "eval"])
def test_the_network_works_in_its_precision_and_embeddings_are_float32(precision, inside, mode):
    network, convolution = watched(precision=precision)
    getattr(network, mode)()
    embeddings = network(IMAGES)
    assert convolution.types == [inside]
    assert embeddings.dtype == torch.float32
    embeddings.square().sum().backward()
    assert network.embedder.embedding.weight.grad.dtype == torch.float32
    assert convolution.inner.weight.grad.dtype == torch.float32


def test_bf16_is_near_to_float32_and_not_equal():
    exact, short = (tiny_network(settings(precision=name))(IMAGES) for name in ("float32", "bf16"))
    assert not torch.equal(exact, short)
    torch.testing.assert_close(exact, short, rtol=0.05, atol=0.05)


@pytest.mark.parametrize("is_last", [True, False])
def test_images_and_weights_have_the_memory_format_of_the_recipe(is_last):
    network, convolution = watched(channels_last=is_last)
    network(IMAGES)
    network(IMAGES.contiguous(memory_format=torch.channels_last))
    assert convolution.is_channels_last == [is_last, is_last]
    weight = convolution.inner.weight
    assert weight.is_contiguous(memory_format=torch.channels_last) == is_last


def test_features_go_through_as_they_are():
    network = tiny_network()
    network._forward = lambda features: features
    features = torch.rand(3, 5)
    assert network(features) is features


@pytest.fixture
def in_this_process(monkeypatch):
    """Compilation without processes that would each import torch for one kernel."""
    monkeypatch.setattr("torch._inductor.config.compile_threads", 1)


@HAS_COMPILER
@pytest.mark.soak  # of torch's own work; what is podium's, the next two see
@pytest.mark.usefixtures("in_this_process")
def test_a_compiled_network_embeds_as_the_plain_one():
    plain, compiled = (tiny_network(settings(compile=is_on)) for is_on in (False, True))
    for network in (plain, compiled):
        network.eval()
    with torch.no_grad():
        torch.testing.assert_close(compiled(IMAGES), plain(IMAGES), rtol=1e-4, atol=1e-5)


@pytest.fixture
def without_kernels(monkeypatch):
    """Compilation up to the graph, which takes no compiler and a tenth of the time."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))


@pytest.mark.usefixtures("without_kernels")
def test_a_compiled_network_learns_as_the_plain_one_and_keeps_its_names():
    found = []
    for is_compiled in (False, True):
        network = tiny_network(settings(compile=is_compiled))
        network.train()
        network(IMAGES).square().sum().backward()
        names = list(network.embedder.state_dict())
        weights = network.embedder.parameters()
        found.append((names, [weight.grad for weight in weights]))
    plain, compiled = found
    assert plain[0] == compiled[0]
    for expected, gradient in zip(plain[1], compiled[1], strict=True):
        torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("without_kernels")
def test_every_shape_is_compiled_and_none_falls_back_in_silence():
    network = tiny_network(settings(compile=True))
    plain = tiny_network()
    for made in (network, plain):
        made.eval()
    for num_images in range(1, 11):  # torch stops compiling after 8 unless it is told otherwise
        with torch.no_grad():
            torch.testing.assert_close(
                network(tiny_images(num_images)), plain(tiny_images(num_images))
            )
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] >= 10


def test_a_machine_without_a_compiler_is_reported_so(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(
        TrialInputError, match=r"training\.compile must be false on this machine: no-such-comp"
    ):
        tiny_network(settings(compile=True))


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's, of its own modules
@pytest.mark.filterwarnings("ignore:TensorFloat32 tensor cores:UserWarning")  # float32 is meant
@pytest.mark.parametrize("changes", [{"precision": "bf16"}, {"compile": True}])
def test_a_network_on_cuda_embeds_as_on_the_cpu(changes):
    training = settings(**changes)
    embedder = tiny_embedder(training)
    expected = tiny_network()(IMAGES)
    cuda = torch.device("cuda")
    found = Network(embedder.to(cuda), training, cuda)(IMAGES.to(cuda))
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.cpu(), expected, rtol=0.05, atol=0.05)
