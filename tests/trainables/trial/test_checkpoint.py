import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from podium.trainables.errors import CheckpointError
from podium.trainables.trial.checkpoint import decode, encode
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial_reports import EpochReport, Score, reports_from_json, reports_to_json
from tests.trainables.tiny_trials import two_folds


def small_checkpoint():
    score = Score(role="train", metric="loss", value=0.1 + 0.2)
    report = EpochReport(
        fold=0, epoch=1, scores=(score,), class_hits=(), seconds=1.0, peak_memory_mb=2.0
    )
    state = {"embedder": {"weight": torch.arange(6.0).view(2, 3)}, "best_epoch": 1}
    return "abc", (report,), state


def test_a_checkpoint_reads_back_as_it_was_written():
    identity, *written = small_checkpoint()
    reports, state = decode(encode(identity, *written), "abc")
    assert reports == written[0]
    torch.testing.assert_close(state, written[1], rtol=0, atol=0)


@pytest.mark.parametrize("keep", [0, 5, 25, 60, 500, -1])
def test_a_checkpoint_that_was_cut_off_is_reported(keep):
    with pytest.raises(CheckpointError, match=r"damaged or cut off|a checkpoint starts with"):
        decode(encode(*small_checkpoint())[:keep], "abc")


@pytest.mark.parametrize("place", [0.0, 0.01, 0.2, 0.5, 0.9, 0.999])
def test_a_flipped_bit_anywhere_is_reported(place):
    content = bytearray(encode(*small_checkpoint()))
    content[int(place * len(content))] ^= 1
    with pytest.raises(CheckpointError, match=r"damaged or cut off|a checkpoint starts with"):
        decode(bytes(content), "abc")


def test_bytes_of_something_else_are_reported():
    with pytest.raises(CheckpointError, match="a checkpoint starts with b'podium checkpoint 1"):
        decode(b"PAR1 and so on", "abc")


def test_a_checkpoint_of_another_trial_is_reported():
    with pytest.raises(CheckpointError, match="it holds abc, this trial is xyz"):
        decode(encode(*small_checkpoint()), "xyz")


def test_real_reports_read_back_from_json_as_they_were(cache_folder):
    reports = list(run_trial(two_folds(cache_folder)))
    assert list(reports_from_json(reports_to_json(reports))) == reports


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_survives_json(value):
    report = EpochReport(
        fold=0,
        epoch=0,
        scores=(Score(role="val", metric="recall", k=1, value=value),),
        class_hits=(),
        seconds=value,
        peak_memory_mb=0.0,
    )
    assert reports_from_json(reports_to_json([report])) == (report,)
