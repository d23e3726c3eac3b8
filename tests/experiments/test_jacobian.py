"""The jacobian experiment: LayerNorm's spectral norm and singular values are the probe's."""

import math

import pytest

from app.experiments.jacobian import Jacobian
from app.probes import jacobian
from app.ui.numbers import significant, with_error
from tests.experiments.helpers import words
from tests.experiments.layered import holds, last, rested

STATES = [{"width": "64", "seeds": "8"}, {"width": "16", "seeds": "2", "scale": "4", "seed": "3"}]


def probed(experiment):
    width, seeds, seed, scale = (
        experiment.values[name] for name in ("width", "seeds", "seed", "scale")
    )
    return (
        last(jacobian.measure({"width": width, "seeds": seeds, "seed": seed})),
        last(jacobian.singular_values({"width": width, "seed": seed, "scale": scale})),
    )


@pytest.mark.parametrize("state", STATES)
def test_the_figures_are_the_probe_s_on_logarithmic_axes(state):
    experiment = rested(Jacobian, state)
    norms, values = probed(experiment)
    chart = experiment.charts["norm"]
    assert (chart.x_log, chart.y_log) == (True, True)
    points, law = chart.data("norms"), chart.data("law")
    assert points["y"] == norms.columns["norm"]
    assert law["y"] == norms.columns["law"]
    products = [x * y for x, y in zip(law["x"], law["y"], strict=True)]
    assert products == pytest.approx([math.sqrt(experiment.values["width"])] * 6)
    row = jacobian.SCALES.index(experiment.values["scale"])
    assert chart.data("chosen") == {"x": [points["x"][row]], "y": [points["y"][row]]}
    holds(chart, "norms", "law", "chosen")
    spectrum = experiment.charts["values"]
    assert spectrum.data("values")["y"] == values.columns["singular"]
    assert len(spectrum.data("law")["y"]) == experiment.values["width"] - 2
    holds(spectrum, "values", "law")


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_the_sentence_reads_the_product_the_slope_and_the_two_zeros(state, language):
    experiment = rested(Jacobian, state, language)
    norms, values = probed(experiment)
    row = jacobian.SCALES.index(experiment.values["scale"])
    sentence = words(experiment, "sentence")
    columns = norms.columns
    assert with_error(columns["product"][row], columns["product_se"][row]) in sentence
    assert f"{norms.summary['slope']:.3f}".replace("-", "−") in sentence
    assert norms.summary["slope"] == pytest.approx(-1, abs=1e-3)
    assert significant(1 / values.summary["deviation"]) in sentence
    assert str(experiment.values["width"] - 2) in sentence


def test_the_scale_recomputes_the_singular_values_alone():
    experiment = rested(Jacobian, STATES[0])
    before = experiment.answer("norms")
    largest = max(experiment.charts["values"].data("values")["y"])
    experiment.set({"scale": "2"})
    while experiment.step():
        pass
    assert experiment.answer("norms") is before
    halved = max(experiment.charts["values"].data("values")["y"])
    assert halved == pytest.approx(largest / 2, rel=1e-4)


def test_it_has_no_wiring_and_says_what_ran():
    experiment = rested(Jacobian, STATES[1])
    assert list(experiment.wirings) == []
    details = words(experiment, "details")
    assert "d = 16" in details
    assert "seed 3" in details


def test_one_seed_has_no_uncertainty():
    sentence = words(rested(Jacobian, {"width": "16", "seeds": "1"}), "sentence")
    assert "One seed gives no uncertainty" in sentence
    assert "±" not in sentence
