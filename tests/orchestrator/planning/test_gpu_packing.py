from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.planning.gpu_packing import BlockMemory, block_packing_advice

GB = 1024.0
RESNET = BlockMemory(
    block="cub200/resnet50/512", gpus_per_trial=0.5, peak_mb=6.1 * GB, device_mb=80 * GB
)


def test_advice_says_what_was_measured_and_what_would_fit():
    advice = block_packing_advice(RESNET)
    assert str(advice) == (
        "cub200/resnet50/512: peak 6.1 of 80 GB: gpus_per_trial 0.1 would fit 10 trials (now 0.5)"
    )


def test_fewer_are_advised_where_trials_are_packed_too_tightly():
    advice = block_packing_advice(replace(RESNET, gpus_per_trial=0.05))
    assert advice.trials_per_gpu == 10


@pytest.mark.parametrize("gpus", [0.1, 0.095])
def test_what_is_packed_well_is_not_advised_on(gpus):
    assert block_packing_advice(replace(RESNET, gpus_per_trial=gpus)) is None


@pytest.mark.parametrize("gpus", [0.0, 2.0])
def test_trials_without_a_gpu_or_with_several_are_not_advised_on(gpus):
    assert block_packing_advice(replace(RESNET, gpus_per_trial=gpus)) is None


def test_after_an_attempt_ran_out_of_memory_packing_more_is_not_advised():
    assert block_packing_advice(replace(RESNET, ran_out=True)) is None
    tight = replace(RESNET, ran_out=True, gpus_per_trial=0.05)
    assert block_packing_advice(tight).gpus_per_trial == 0.1


@given(
    peak=st.floats(1.0, 100_000.0),
    device=st.floats(1_000.0, 150_000.0),
    now=st.sampled_from([1.0, 0.5, 0.33, 0.25, 0.1, 0.05, 0.01]),
)
def test_what_is_advised_always_fits_with_a_tenth_to_spare(peak, device, now):
    memory = BlockMemory(block="b", gpus_per_trial=now, peak_mb=peak, device_mb=device)
    advice = block_packing_advice(memory)
    if advice is None:
        return
    assert advice.trials_per_gpu * peak * 1.1 <= device
    assert advice.trials_per_gpu * advice.gpus_per_trial <= 1.0 + 1e-6
    assert advice.gpus_per_trial == round(advice.gpus_per_trial, 2)
    assert advice.gpus_per_trial * device >= peak * 1.1


def test_a_peak_that_fits_no_gpu_brings_no_advice():
    assert block_packing_advice(replace(RESNET, peak_mb=79 * GB)) is None
