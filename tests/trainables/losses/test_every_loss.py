"""What holds for every loss there is, whatever its formula."""

from pathlib import Path

import pytest
import torch
from torch.func import grad, vmap

from podium.orchestrator.study.loss_facts import facts_of
from podium.trainables.loss_composition.batch import Batch, References
from podium.trainables.loss_composition.loss_base import Loss
from podium.trainables.registry import load
from tests.trainables.losses.loss_cases import (
    BATCHES,
    DIM,
    LOSSES,
    balanced_labels,
    corners,
    embeddings,
    full_batch,
    points_between,
    prepared_loss,
    run,
)

every_loss = pytest.mark.parametrize("name", LOSSES)
every_batch = pytest.mark.parametrize("batch_name", BATCHES)


def losses_that(attribute):
    return [name for name in LOSSES if getattr(load("losses", name), attribute)]


def losses_to_map_over():
    real = {
        name
        for name in LOSSES
        if any(isinstance(v, float) for v in facts_of(name).defaults.values())
    }
    return [name for name in losses_that("is_vmappable") if name in real]


def losses_invariant_to(change):
    return [name for name in LOSSES if change in load("losses", name).invariances]


def all_finite(value, gradients):
    return bool(value.isfinite()) and all(g.isfinite().all() for g in gradients.values())


def test_every_loss_has_its_search_space_and_its_oracle():
    oracles = {path.stem for path in (Path(__file__).parent / "oracles").glob("*.py")}
    assert set(LOSSES) == oracles
    for facts in map(facts_of, LOSSES):
        assert bool(facts.spaces["joint"].parameters) == bool(facts.parameters), facts.name


@every_loss
def test_a_loss_is_a_loss_and_declares_only_known_invariances(name):
    loss = load("losses", name)
    assert issubclass(loss, Loss)
    assert loss.invariances <= {"permutation", "rotation", "scale"}


@every_loss
@every_batch
def test_any_batch_gives_finite_values_and_zero_where_nothing_is_active(name, batch_name):
    x, labels, num_classes = BATCHES[batch_name]
    for hyperparameters in (facts_of(name).defaults, *corners(name)):
        loss = prepared_loss(name, num_classes=num_classes, **hyperparameters)
        value, gradients, active_fraction = run(loss, x, labels)
        assert value.dtype == torch.float32
        assert value.shape == active_fraction.shape == ()
        assert all_finite(value, gradients), hyperparameters
        assert 0.0 <= active_fraction <= 1.0
        if active_fraction == 0.0:
            assert value == 0.0
            assert all((gradient == 0.0).all() for gradient in gradients.values())


@every_loss
@pytest.mark.parametrize("direction", ["one direction", "zero"])
def test_collapsed_embeddings_give_a_finite_value_and_gradient(name, direction):
    x = embeddings(1).expand(24, DIM) if direction == "one direction" else torch.zeros(24, DIM)
    for hyperparameters in (facts_of(name).defaults, *corners(name)):
        loss = prepared_loss(name, num_classes=6, **hyperparameters)
        value, gradients, _ = run(loss, x, balanced_labels())
        assert all_finite(value, gradients), hyperparameters


@every_loss
def test_under_bfloat16_autocast_the_arithmetic_stays_in_float32(name):
    x = embeddings(24).bfloat16()
    for hyperparameters in (facts_of(name).defaults, *corners(name)):
        loss = prepared_loss(name, num_classes=6, **hyperparameters)
        exact, exact_gradients, _ = run(loss, x.float(), balanced_labels())
        value, gradients, _ = run(loss, x, balanced_labels(), autocast=torch.bfloat16)
        assert value.dtype == torch.float32
        assert gradients.pop("embeddings").dtype == torch.bfloat16
        assert torch.equal(value, exact)
        assert all(torch.equal(gradients[key], exact_gradients[key]) for key in gradients)


@every_loss
def test_float32_is_close_to_float64(name):
    x, labels, num_classes = BATCHES["clustered"]
    for hyperparameters in (facts_of(name).defaults, *corners(name)):
        loss = prepared_loss(name, num_classes=num_classes, **hyperparameters)
        value, gradients, _ = run(loss, x, labels)
        exact, exact_gradients, _ = run(loss.double(), x.double(), labels)
        torch.testing.assert_close(value.double(), exact, rtol=1e-3, atol=1e-5)
        for key, gradient in gradients.items():
            torch.testing.assert_close(
                gradient.double(), exact_gradients[key], rtol=1e-2, atol=1e-4
            )


@pytest.mark.parametrize("name", losses_invariant_to("permutation"))
def test_the_order_of_the_batch_does_not_matter(name):
    for x, labels, num_classes in BATCHES.values():
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(3))
        loss = prepared_loss(name, num_classes=num_classes, dtype=torch.float64)
        value, gradients, _ = run(loss, x.double(), labels)
        permuted, permuted_gradients, _ = run(loss, x.double(), labels, order=order)
        torch.testing.assert_close(permuted, value, rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(permuted_gradients, gradients, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("name", losses_invariant_to("rotation"))
def test_a_rotation_of_the_embedding_space_does_not_matter(name):
    x, labels, num_classes = BATCHES["clustered"]
    rotation = torch.linalg.qr(embeddings(DIM, dtype=torch.float64, seed=7)).Q
    loss = prepared_loss(name, num_classes=num_classes, dtype=torch.float64)
    value, _, _ = run(loss, x.double(), labels)
    for parameter in loss.parameters():
        if parameter.shape[-1:] == (DIM,):
            parameter.data = parameter.data @ rotation
    rotated, _, _ = run(loss, x.double() @ rotation, labels)
    torch.testing.assert_close(rotated, value, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", losses_invariant_to("scale"))
def test_the_length_of_the_embeddings_does_not_matter(name):
    x, labels, num_classes = BATCHES["clustered"]
    loss = prepared_loss(name, num_classes=num_classes, dtype=torch.float64)
    value, _, _ = run(loss, x.double(), labels)
    lengths = torch.linspace(0.1, 10.0, len(x), dtype=torch.float64)[:, None]
    stretched, _, _ = run(loss, x.double() * lengths, labels)
    torch.testing.assert_close(stretched, value, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", losses_that("takes_references"))
def test_places_of_a_memory_without_a_sample_change_nothing(name):
    x, labels, num_classes = BATCHES["clustered"]
    stored = embeddings(16, dtype=torch.float64, seed=9)

    def output(places, samples):
        of_places = torch.full((places,), -1)
        of_places[:samples] = labels[8 : 8 + samples]
        references = References(
            stored[:places], torch.nn.functional.normalize(stored[:places]), of_places
        )
        return loss(full_batch(x.double(), labels)._replace(references=references))

    loss = prepared_loss(name, num_classes=num_classes, dtype=torch.float64)
    torch.testing.assert_close(output(16, 12), output(12, 12))
    assert output(16, 0) == (0.0, 0.0)


@every_loss
def test_every_parameter_of_a_loss_gets_a_gradient_and_moves(name):
    x, labels, num_classes = BATCHES["unbalanced"]
    loss = prepared_loss(name, num_classes=num_classes)
    before = {key: value.detach().clone() for key, value in loss.named_parameters()}
    has_proxies = "proxies" in load("losses", name).needs
    assert bool(before) == has_proxies
    if not has_proxies:
        return
    optimiser = torch.optim.AdamW(loss.parameters(), lr=1e-2)
    loss(full_batch(x, labels)).value.backward()
    optimiser.step()
    assert all((value != before[key]).any() for key, value in loss.named_parameters())


@every_loss
def test_a_loss_compiles_to_one_graph(name):
    x, labels, num_classes = BATCHES["clustered"]
    loss = prepared_loss(name, num_classes=num_classes)

    def compute(batch, parameters):
        return loss.compute(batch, parameters, loss.hyperparameters)

    torch.compiler.reset()
    compiled = torch.compile(compute, fullgraph=True, backend="eager")
    arguments = full_batch(x, labels), dict(loss.named_parameters())
    torch.testing.assert_close(compiled(*arguments), compute(*arguments))


@pytest.mark.parametrize("name", losses_to_map_over())
@pytest.mark.parametrize("batch_name", ["balanced", "duplicates", "no positives", "one class"])
def test_a_population_of_hyperparameters_by_vmap_equals_a_loop(name, batch_name):
    x, labels, num_classes = BATCHES[batch_name]
    x = x.double()
    points = points_between(name, num_points=4)
    loss = prepared_loss(name, num_classes=num_classes, dtype=torch.float64)
    parameters = dict(loss.named_parameters())

    def compute(x, parameters, hyperparameters):
        output = loss.compute(full_batch(x, labels), parameters, hyperparameters)
        return output.value, output.active_fraction

    mapped = [key for key, value in points[0].items() if isinstance(value, float)]
    fixed = {key: value for key, value in points[0].items() if key not in mapped}
    stacked = {
        key: torch.tensor([point[key] for point in points], dtype=torch.float64) for key in mapped
    }

    def one(x, parameters, hyperparameters):
        return compute(x, parameters, {**fixed, **hyperparameters})

    gradients, actives = vmap(grad(one, argnums=(0, 1), has_aux=True), in_dims=(None, None, 0))(
        x, parameters, stacked
    )
    for index, point in enumerate(points):
        point = {**point, **fixed}
        expected, expected_active = grad(compute, argnums=(0, 1), has_aux=True)(
            x, parameters, point
        )
        torch.testing.assert_close(actives[index], expected_active)
        torch.testing.assert_close(gradients[0][index], expected[0], rtol=1e-10, atol=1e-12)
        for key in parameters:
            torch.testing.assert_close(
                gradients[1][key][index], expected[1][key], rtol=1e-10, atol=1e-12
            )


@pytest.mark.parametrize("name", ["fast_ap", "histogram"])
def test_a_population_of_networks_by_vmap_equals_a_loop(name):
    x = torch.stack([embeddings(24, seed=seed) for seed in range(3)])
    loss = prepared_loss(name, num_classes=6)

    def value(x):
        return loss(Batch.of(x, balanced_labels())).value

    torch.testing.assert_close(vmap(value)(x), torch.stack([value(one) for one in x]))
