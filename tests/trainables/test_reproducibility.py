import pytest
import torch

from podium.trainables.reproducibility import derive_seed, reproducible


def draw(seed):
    with reproducible(seed, num_threads=1):
        return torch.rand(3)


def test_seeds_follow_from_their_parts_and_differ_between_them():
    parts = [(0,), (1,), (0, 1), (1, 0), ("0",), (0, "batches"), (0, "network"), (0, 1, 1)]
    seeds = [derive_seed(*part) for part in parts]
    assert seeds == [derive_seed(*part) for part in parts]
    assert len(set(seeds)) == len(parts)
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_a_seed_is_the_same_on_every_machine():
    # The first 63 bits that `printf '[0,"batches"]' | sha256sum` prints.
    assert derive_seed(0, "batches") == 4272069234668517869


def test_a_block_draws_what_its_seed_says_whatever_came_before():
    first = draw(5)
    torch.rand(7)
    assert torch.equal(draw(5), first)
    assert not torch.equal(draw(6), first)


def test_random_numbers_outside_do_not_notice_the_block():
    torch.manual_seed(0)
    expected = torch.rand(2)
    torch.manual_seed(0)
    draw(5)
    assert torch.equal(torch.rand(2), expected)


def test_torch_is_set_up_inside_and_restored_even_after_an_error():
    threads = torch.get_num_threads()
    seen = []

    def fail_inside():
        with reproducible(0, num_threads=threads + 1):
            seen.append((torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()))
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail_inside()
    assert seen == [(threads + 1, True)]
    assert torch.get_num_threads() == threads
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_callers_own_strictness_is_restored():
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        draw(0)
        assert torch.is_deterministic_algorithms_warn_only_enabled()
    finally:
        torch.use_deterministic_algorithms(False)
