"""Every wiring beside Post-LN and Pre-LN: what the reference found, and that the parts agree."""

from dataclasses import replace

import numpy as np
import pytest

from app.nn.wirings import WIRINGS, Wiring
from app.probes import attenuation, beta, depth, gradients, norms, sensitivity, theory
from app.probes.options import OPTIONS
from app.probes.wirings import measure

DEPTHS = (1, 6, 12, 24, 48)
DEEPNORM = {1: 0.133, 6: 0.056, 12: 0.039, 24: 0.028, 48: 0.020}


@pytest.fixture(scope="module")
def all_of_them(last):
    """Softmax, d_ff = 4d, d = 64; geometric means."""
    wirings = tuple(w for w in WIRINGS if w not in ("hyper_connections", "mhc"))
    return last(measure({"wiring": wirings, "depths": DEPTHS, "depth": 12, "seeds": 24}))


def test_deepnorm_is_the_flattest_and_falls_as_a_root(all_of_them):
    columns = all_of_them.columns
    for row, (n, reference) in enumerate(DEEPNORM.items()):
        ours = columns["deepnorm_geomean"][row]
        error = columns["deepnorm_se"][row] / columns["deepnorm"][row] * ours
        assert abs(ours - reference) <= 4 * np.hypot(error, error + 0.0005), n
    # Against N = 1 the fall is a little steeper: its one layer has little to average over.
    exponent = np.polyfit(np.log(DEPTHS[1:]), np.log(columns["deepnorm_geomean"][1:]), 1)[0]
    assert exponent == pytest.approx(-0.5, abs=0.05)
    for row in range(len(DEPTHS)):
        others = [columns[f"{w}_geomean"][row] for w in all_of_them.config["wiring"]]
        assert columns["deepnorm_geomean"][row] == min(others)
    gradients = all_of_them.summary["gradients"]["deepnorm"]
    assert abs(gradients["ratio"]["mean"] - 1) <= 0.02 + 4 * gradients["ratio"]["se"]
    profile = np.array(gradients["profile"])
    np.testing.assert_allclose(profile / profile.mean(), 1, atol=0.02)


@pytest.mark.parametrize("wiring", ["pre_ln", "admin", "sandwich", "olmo2", "pre_rms"])
def test_most_of_the_others_are_logarithmic_like_pre_ln(all_of_them, wiring):
    laws = sensitivity.fits(DEPTHS, all_of_them.columns[f"{wiring}_geomean"])
    assert laws["log"]["r2"] > 0.97 > laws["linear"]["r2"]


def test_post_ln_is_not(all_of_them):
    laws = sensitivity.fits(DEPTHS, all_of_them.columns["post_ln_geomean"])
    assert laws["linear"]["r2"] > 0.97 > laws["log"]["r2"]


def test_normformer_grows_as_a_root(all_of_them):
    column = all_of_them.columns["normformer_geomean"]
    exponent = np.polyfit(np.log(DEPTHS), np.log(column), 1)[0]
    assert exponent == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize(("wiring", "reference"), [("admin", 6.8), ("admin_constant", 4.7)])
def test_admin_s_two_forms_are_the_reference_s(all_of_them, agrees, wiring, reference):
    """N = 24. The reference does not say over what; both kinds of mean are within the errors."""
    row = DEPTHS.index(24)
    ours, error = (all_of_them.columns[f"{wiring}{s}"][row] for s in ("", "_se"))
    assert agrees(ours, error, reference, error + 0.05)


@pytest.fixture(scope="module")
def uniform(last):
    """What has a curve of its own, d = 128, d_ff = d."""
    config = {"wiring": OTHERS, "attention": "uniform", "width": 128, "ff": 1, "seeds": 32}
    return last(measure({**config, "depths": (1, 6, 12, 24), "depth": 12}))


OTHERS = ("admin", "admin_constant", "sandwich", "olmo2", "pre_rms")


@pytest.mark.parametrize("wiring", OTHERS)
def test_the_others_lie_on_parameter_free_curves_too(uniform, wiring):
    """Sensitivities absolutely, W₂'s gradients by their profile."""
    columns = uniform.columns
    for ours, error, curve in zip(
        *(columns[f"{wiring}{suffix}"] for suffix in ("_geomean", "_se", "_theory")), strict=True
    ):
        assert -4 * error - curve / 8 <= ours - curve <= 4 * error + curve / 50
    profile = np.array(uniform.summary["gradients"][wiring]["profile"])
    curve = np.sqrt([layer.w_2 for layer in theory.gradients(wiring, 12, 1, 5)])
    np.testing.assert_allclose(profile / profile[-1], curve / curve[-1], rtol=0.15)


@pytest.mark.parametrize(
    ("probe", "slack"),
    [
        (norms.measure, 0.03),
        (beta.measure, 0.03),
        (attenuation.measure, 0.12),
        (lambda config: depth.measure({**config, "quantity": "cosine"}), 0.03),
        (lambda config: depth.measure({**config, "quantity": "change"}), 0.03),
    ],
    ids=["norms", "beta", "attenuation", "cosine", "change"],
)
def test_and_so_do_all_that_is_measured_of_them(last, probe, slack):
    config = {"wiring": OTHERS, "attention": "uniform", "width": 128, "ff": 1, "tokens": 5}
    columns = last(probe({**config, "depth": 8, "seeds": 24})).columns
    for wiring in OTHERS:
        ours, error, curve = (np.array(columns[f"{wiring}{s}"]) for s in ("", "_se", "_theory"))
        assert (np.abs(ours - curve) <= 4 * error + slack * curve).all(), wiring


@pytest.mark.parametrize("wiring", ["hyper_connections", "mhc"])
def test_at_the_published_start_hyper_connections_measure_as_pre_ln(last, wiring):
    config = {"wiring": f"pre_ln,{wiring}", "depth": 4, "seeds": 4, "width": 32}
    back = last(attenuation.measure(config)).columns
    np.testing.assert_allclose(back[wiring], back["pre_ln"], rtol=1e-4)
    config["depths"] = (1, 6)
    result = last(measure(config))
    np.testing.assert_allclose(result.columns[wiring], result.columns["pre_ln"], rtol=1e-4)
    profiles = [result.summary["gradients"][w]["profile"] for w in (wiring, "pre_ln")]
    np.testing.assert_allclose(*profiles, rtol=1e-4)
    perturbed = last(measure({**config, "start": 0.1}))
    assert perturbed.columns["pre_ln"] == result.columns["pre_ln"]
    assert np.abs(np.array(perturbed.columns[wiring]) / result.columns[wiring] - 1).max() > 0.005


def test_it_is_the_two_probes_together(last):
    config = {"wiring": "deepnorm,pre_ln", "width": 32, "attention": "softmax", "ff": 2, "seeds": 3}
    together = last(measure({**config, "depths": (1, 3), "depth": 4}))
    moved = last(sensitivity.measure({**config, "depths": (1, 3)}))
    assert together.columns == moved.columns
    profile = last(gradients.measure({**config, "depth": 4}))
    for w in ("deepnorm", "pre_ln"):
        ours = together.summary["gradients"][w]
        assert ours["profile"] == profile.columns[f"{w}_geomean"]
        assert ours["ratio"].items() <= profile.summary["ratio"][w].items()


def test_one_more_row_is_in_every_probe(last, monkeypatch):
    """One function and one row: the options, the passes per depth and the gradients follow."""

    def halved(x, branch, norm, share):
        return x + branch(norm(x)) * share

    row = Wiring(
        "halved", halved, True, True, "this test, 2026", numbers=lambda p, _: {"share": 1 / p.depth}
    )
    monkeypatch.setitem(WIRINGS, "halved", row)
    more = replace(OPTIONS["wiring"], choices=tuple(WIRINGS))
    monkeypatch.setitem(OPTIONS, "wiring", more)
    config = {"wiring": "halved,pre_ln", "width": 32, "seeds": 3}
    moved = last(sensitivity.measure({**config, "depths": (1, 4)})).columns
    assert moved["halved"][0] == moved["pre_ln"][0]
    assert moved["halved"][1] < moved["pre_ln"][1]
    profile = last(gradients.measure({**config, "depth": 4})).columns
    assert len(profile["halved"]) == 4
    assert profile["halved"] != profile["pre_ln"]
    estimated = last(sensitivity.estimate({**config, "depths": (1, 4)})).columns
    assert estimated["halved"][0] == estimated["pre_ln"][0] > estimated["halved"][1]
