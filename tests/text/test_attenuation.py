"""What the attenuation lesson says of the number of positions and of the way back."""

from itertools import pairwise
from math import sqrt

import pytest

from app.probes import attenuation

DEPTH, FF = 48, 4


@pytest.mark.parametrize("tokens", [2, 5, 16])
def test_post_ln_s_floor_is_near_one_over_the_root_of_the_number_of_positions(tokens: int) -> None:
    kept = attenuation.curve("post_ln", DEPTH, FF, tokens)
    assert min(kept) == pytest.approx(1 / sqrt(tokens), rel=0.03)


def test_with_one_position_nothing_is_lost() -> None:
    assert attenuation.curve("post_ln", DEPTH, FF, 1) == pytest.approx([1.0] * (DEPTH + 1))


def test_it_is_lost_in_the_last_layers_and_grows_near_the_input() -> None:
    kept = attenuation.curve("post_ln", DEPTH, FF, 5)
    assert kept[DEPTH - 6] < 1.1 * min(kept)
    assert kept[0] > 1.2 * min(kept)


def test_pre_ln_grows_on_the_way_back_mostly_in_the_first_layers() -> None:
    kept = attenuation.curve("pre_ln", 24, FF, 5)
    assert all(before > after for before, after in pairwise(kept))
    assert kept[0] / kept[4] > kept[4] / kept[24]
