"""The wirings experiment: any wiring beside Post-LN and Pre-LN, every number the probes'."""

import math
import re
from collections.abc import Mapping
from typing import Any

import pytest

from app.experiments.wirings import DEPTHS, VARIANTS, Wirings, attention_of
from app.experiments.wirings_answers import Answers
from app.nn.wirings import WIRINGS
from app.probes import gradients, wirings
from app.probes.result import Result
from app.ui.numbers import with_error
from app.ui.references import PAPERS
from app.ui.strings import LANGUAGES, strings
from app.ui.theme import SERIES
from tests.experiments.helpers import words

SMALL = {"width": "32", "ff": "1", "seeds": "3", "depth": "4"}


def shown(state: Mapping[str, str], language: str = "en") -> Wirings:
    experiment = Wirings(language)
    experiment.set({**SMALL, **state})
    while experiment.step():
        pass
    assert experiment.status == "ready"
    return experiment


def asked(experiment: Wirings, **more: Any) -> dict[str, Any]:
    """What a reader would ask the probes for at this state."""
    values = experiment.values
    stack = {name: values[name] for name in ("width", "ff", "seed", "seeds")}
    variant = values["variant"]
    start = values["start"] if WIRINGS[variant].streams > 1 else 0.0
    several = ("post_ln", "pre_ln", variant)
    attention = attention_of(values)
    return {**stack, "wiring": several, "start": start, "attention": attention, **more}


def last(probe: Any, config: dict[str, Any]) -> Result:
    complete = [answer for answer in probe(config) if answer is not None][-1]
    assert isinstance(complete, Result)
    return complete


@pytest.mark.parametrize(
    "state",
    [{}, {"variant": "mhc", "start": "0.2", "seed": "3"}, {"variant": "olmo2", "ff": "2"}],
    ids=["deepnorm", "mhc", "olmo2"],
)
def test_every_number_is_the_probes(state: Mapping[str, str]) -> None:
    experiment = shown(state)
    variant = experiment.values["variant"]
    changes = last(wirings.measure, asked(experiment, depths=DEPTHS, depth=1))
    profile = last(gradients.measure, asked(experiment, depth=4))
    for place, wiring in (("post_ln", "post_ln"), ("pre_ln", "pre_ln"), ("variant", variant)):
        drawn = experiment.charts["changes"].data(f"{place}_points")
        assert drawn == {"x": list(DEPTHS), "y": changes.columns[f"{wiring}_geomean"]}
        spread = experiment.charts["changes"].data(f"{place}_spread")
        assert spread["low"] == changes.columns[f"{wiring}_p10"]
        drawn = experiment.charts["profile"].data(f"{place}_points")
        assert drawn == {"x": [1, 2, 3, 4], "y": profile.columns[f"{wiring}_relative"]}
        power, ratio = changes.summary["exponent"][wiring], profile.summary["ratio"][wiring]
        sentence = words(experiment, "sentence")
        assert with_error(power["mean"], power["se"]) in sentence
        assert with_error(ratio["geomean"], ratio["geomean_se"]) in sentence


def test_only_wirings_with_several_streams_have_weights_between_them_to_perturb() -> None:
    option, _, variants = Wirings.needs["start"].partition("=")
    assert option == "variant"
    assert set(variants.split("|")) == {name for name, row in WIRINGS.items() if row.streams > 1}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_variant_wears_its_own_colours_and_name(variant: str) -> None:
    experiment = shown({"variant": variant, "seeds": "2"})
    series = SERIES[variant]["measured"]
    for chart in experiment.charts.values():
        glyphs = {r.data_source.name: r.glyph for r in chart.plot.renderers}
        assert glyphs["variant_line"].line_color == series.color
        assert glyphs["variant_line"].line_dash == list(series.dash)
        assert glyphs["variant_points"].marker == series.marker
        assert glyphs["variant_label"].text_color == series.color
        assert chart.data("variant_label")["text"] == [strings("en")(f"wirings.label.{variant}")]
    assert experiment.wirings == ("post_ln", "pre_ln", variant)


def test_labels_and_curves_lie_within_the_axes() -> None:
    for variant in ("deepnorm", "pre_rms", "admin"):
        for chart in shown({"variant": variant}).charts.values():
            low, high = chart.plot.y_range.start, chart.plot.y_range.end
            for place in ("post_ln", "pre_ln", "variant"):
                spread = chart.data(f"{place}_spread")
                heights = [*spread["low"], *spread["high"], *chart.data(f"{place}_label")["y"]]
                assert all(low <= y <= high for y in heights)


def test_deepnorm_falls_and_hyper_connections_start_as_pre_ln() -> None:
    text = words(shown({"width": "64", "ff": "4", "seeds": "5"}), "sentence")
    assert "with DeepNorm the output becomes less sensitive" in text
    power = re.search(r"power (\S+) ± (\S+) with DeepNorm", text)
    assert power is not None
    slope, error = (float(each.replace("−", "-")) for each in power.groups())
    assert abs(slope + 0.5) < 4 * error  # N^−½
    for variant in ("hyper_connections", "mhc"):
        assert "is exactly Pre-LN" in words(shown({"variant": variant}), "sentence")
        perturbed = words(shown({"variant": variant, "start": "0.5"}), "sentence")
        assert "is exactly Pre-LN" not in perturbed
        assert "σ = 0.5" in perturbed
    assert "is exactly Pre-LN" not in words(shown({"variant": "pre_rms"}), "sentence")


def test_what_cannot_be_kept_to_is_said() -> None:
    text = words(shown({"attention": "uniform"}), "sentence")
    assert "DeepNorm needs softmax attention" in text
    experiment = shown({"attention": "uniform", "variant": "sandwich"})
    assert "softmax" not in words(experiment, "sentence")
    assert experiment.answers.changes.config["attention"] == "uniform"
    assert "σ changes nothing here" in words(shown({"start": "0.1"}), "sentence")


def test_a_start_that_changes_nothing_computes_nothing() -> None:
    experiment = shown({})
    experiment.set({"start": "0.2"})
    assert not any(work.running for work in experiment.works.values())


def test_another_depth_of_the_profile_leaves_the_changes_alone() -> None:
    experiment = shown({})
    experiment.set({"depth": "6"})
    assert not experiment.works["changes"].running
    assert experiment.works["profile"].running


def test_one_seed_and_one_layer_are_said() -> None:
    text = words(shown({"seeds": "1", "depth": "1"}), "sentence")
    assert "One seed gives no uncertainty" in text
    assert "the last and the first are the same" in text
    assert "NaN" not in text
    assert "±" not in text


def power(mean: float, se: float = 0.01) -> dict[str, float]:
    return {"mean": mean, "se": se}


@pytest.mark.parametrize(
    ("variant", "verdict"),
    [
        (power(-0.5), "falls"),
        (power(0.01, 0.02), "flat"),
        (power(0.51), "like_pre"),
        (power(0.99), "like_post"),
        (power(0.3), "slower"),
        (power(0.7), "between"),
        (power(1.4), "faster"),
        (power(0.3, math.nan), None),
    ],
)
def test_the_verdict_is_what_the_errors_allow(
    variant: dict[str, float], verdict: str | None
) -> None:
    columns = {"depth": [1, 2], "x_geomean": [1.0, 1.5], "pre_ln_geomean": [1.0, 1.4]}
    powers = {"x": variant, "post_ln": power(1.0), "pre_ln": power(0.5)}
    changes = Result("wirings", {}, columns, {"exponent": powers}, 2, 2)
    assert Answers("x", changes, changes).verdict() == verdict


def test_a_number_that_overflowed_is_said() -> None:
    columns = {
        "depth": [1, 2],
        **{f"{w}_geomean": [1.0, 2.0] for w in ("x", "post_ln", "pre_ln")},
        "post_ln_geomean": [1.0, math.inf],
    }
    changes = Result("wirings", {}, columns, {}, 2, 2)
    assert Answers("x", changes, changes).not_finite() == ("post_ln", 2)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_wiring_is_drawn_for_its_state_and_described(variant: str, language: str) -> None:
    when = {drawing.wiring: drawing.when for drawing in Wirings(language).drawings}
    assert when[variant] == f"variant={variant}"
    text = strings(language).raw(f"wirings.board.{variant}")
    assert isinstance(text, str)
    named = [PAPERS[key][1] for key in re.findall(r"\[@(\w+)", text)]
    assert named
    cited = re.findall(r"arXiv (\d{4}\.\d{5})", WIRINGS[variant].source)
    assert named[0][-10:] in cited or not cited


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_is_said_in_every_language(language: str) -> None:
    experiment = shown({"seeds": "2"}, language)
    for part in ("sentence", "table", "details"):
        text = words(experiment, part)
        assert text
        assert "{" not in text
        assert "nan" not in text.lower().split()
