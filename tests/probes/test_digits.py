"""The numbers themselves: what links promise to show again.

Made natively and found again by NumPy in Pyodide 0.28.3 to 3·10⁻¹⁴. If a change of the program
moves them, `NUMBERS_VERSION` goes up with it.
"""

import pytest

from app.probes import NUMBERS_VERSION
from app.probes.sensitivity import estimate, measure

# Post at N = 6 and 24, Pre at N = 6 and 24: seed 11, three of its seeds.
DIGITS = {
    (measure, "uniform", 128, 1): [
        5.75079731787698, 12.5114805736861, 2.7510404086636, 4.54443739430644,
    ],
    (measure, "softmax", 64, 4): [
        8.42994832310887, 38.3695242729516, 3.58066359602076, 8.86201848278552,
    ],
    (estimate, "uniform", 128, 1): [
        6.34828376751509, 26.7757865196295, 2.74010093623088, 4.70273854686187,
    ],
    (estimate, "softmax", 64, 4): [
        7.64515879047053, 34.1558190639737, 3.43320941325972, 6.47903334201426,
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("probe", "attention", "width", "ff"),
    DIGITS,
    ids=lambda part: getattr(part, "__name__", str(part)),
)
def test_the_same_seed_shows_the_same_numbers_for_as_long_as_the_version_stands(
    last, probe, attention, width, ff
):
    assert NUMBERS_VERSION == "1"
    config = {"attention": attention, "width": width, "ff": ff, "depths": (6, 24)}
    columns = last(probe({**config, "seed": 11, "seeds": 3})).columns
    ours = columns["post_ln"] + columns["pre_ln"]
    assert ours == pytest.approx(DIGITS[probe, attention, width, ff], rel=1e-9)
