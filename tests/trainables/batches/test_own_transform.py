"""Transforms in code of one's own: seeded, by image, and refused where they give no such image."""

from itertools import pairwise

import pytest
import torch

from podium.trainables.batches.own_transform import transform_at, transformed
from podium.trainables.errors import TrialInputError
from podium.trainables.own_files import keep_files

CODE = """
import torch

def noisy(image_CHW):
    return image_CHW + torch.randint(0, 200, ()).byte()

def as_float(image_CHW):
    return image_CHW.float()

def cropped(image_CHW):
    return image_CHW[:, 1:]

def to_text(image_CHW):
    return "image"

def failing(image_CHW):
    raise KeyError("colour")

class Inverted:
    def __call__(self, image_CHW):
        return 255 - image_CHW

number = 3
chain = Inverted()
"""
IMAGES_BCHW = torch.arange(4 * 3 * 2 * 2).reshape(4, 3, 2, 2).byte()


def made(name, seed=0):
    keep_files({"turn.py": CODE.encode()})
    return transformed(f"turn.py:{name}", transform_at(f"turn.py:{name}"), IMAGES_BCHW, seed)


def test_each_image_has_draws_of_its_own_that_follow_from_the_seed_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    shifts_B = (made("noisy") - IMAGES_BCHW)[:, 0, 0, 0]
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    assert torch.equal(made("noisy"), IMAGES_BCHW + shifts_B[:, None, None, None])
    assert any(one != other for one, other in pairwise(shifts_B.tolist()))
    assert not torch.equal(made("noisy", seed=1), made("noisy"))


def test_a_class_is_made_and_called():
    assert torch.equal(made("Inverted"), 255 - IMAGES_BCHW)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("as_float", r"must give torch.uint8 of shape \(3, 2, 2\), .*; got torch.float32 of"),
        ("cropped", r"got torch.uint8 of shape \(3, 1, 2\)"),
        ("to_text", "got str"),
        ("failing", r"turn.py:failing fails on an image of shape .*: turn.py, line 17: KeyError"),
        ("number", "must be a function or a class; got 3"),
        (
            "nosy",
            "unknown transform of turn.py 'nosy' .*'noisy'.*known: Inverted, as_float, chain, ",
        ),
    ],
)
def test_what_is_no_transform_is_refused_with_its_reason(name, problem):
    with pytest.raises(TrialInputError, match=problem):
        made(name)
