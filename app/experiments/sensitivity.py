"""How far does the output move when all weights change a little? Post-LN and Pre-LN, by depth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from app.experiments.experiment import Experiment, Run, State
from app.experiments.tables import result_table, rows_at
from app.probes import NUMBERS_VERSION, beta, sensitivity
from app.probes.options import OPTIONS, Option
from app.probes.result import Result
from app.probes.statistics import fits
from app.ui.controls import Control, number, select, slider, switch
from app.ui.figures import NEUTRAL, Chart, apart, finite, layer_ticks, nice_ceiling
from app.ui.markup import Table
from app.ui.numbers import percent, r_squared, significant, with_error
from app.ui.theme import SERIES

WIRINGS = ("post_ln", "pre_ln")
DEEPEST = int(OPTIONS["depth"].high or 0)
DEPTHS: tuple[int, ...] = OPTIONS["depths"].default  # where points are drawn and laws are fitted
AXIS = Option("axis", "choice", "linear", choices=("linear", "log2"))
CHANGES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
WIDTHS = (32, 64, 128, 256, 512)
SEEDS = (1, 2, 4, 8, 16, 24, 48, 96)

WIDE = 128  # below, the mean over seeds is heavy-tailed
SHALLOW = 4  # up to here no measurement tells N from ln N
FITS, CLOSE, POOR = 0.98, 0.01, 0.9  # of R²: a law fits from here; as good as equal; fits badly
LARGE = 1 / 9  # mean square: a third in length

Kind = Literal["estimate", "measured"]


def _stack(state: State) -> dict[str, Any]:
    """What every probe here is computed from; depth and axis only choose what is looked at."""
    return {"wiring": WIRINGS, **{k: state[k] for k in ("width", "attention", "seed", "seeds")}}


def _all_depths(state: State) -> dict[str, Any]:
    return {**_stack(state), "depths": tuple(range(1, DEEPEST + 1))}


class Sensitivity(Experiment):
    name = "sensitivity"
    runs = (
        Run("estimate", sensitivity.estimate, _all_depths),
        Run("beta", beta.measure, lambda state: {**_stack(state), "depth": DEEPEST}),
        Run(
            "measured",
            sensitivity.measure,
            lambda state: {**_all_depths(state), "change": state["change"]},
            action="perturb",
        ),
    )

    # ------------------------------------------------------------------ controls and figures

    def build_controls(self) -> list[Control]:
        return [
            slider(OPTIONS["depth"], self.say),
            switch(AXIS, self.say),
            slider(OPTIONS["change"], self.say, values=CHANGES, shown=self.percent),
            select(OPTIONS["width"], self.say, values=WIDTHS, shown=str),
            switch(OPTIONS["attention"], self.say),
            select(OPTIONS["seeds"], self.say, values=SEEDS, shown=str),
            number(OPTIONS["seed"], self.say),
        ]

    def build_charts(self) -> dict[str, Chart]:
        return {"sensitivity": self._build_changes(), "beta": self._build_shares()}

    def _build_changes(self) -> Chart:
        chart = Chart(height=400)
        chart.upright("depth")
        for kind in ("theory", "estimate", "fit"):
            for wiring in WIRINGS:
                series = SERIES[wiring]["linear" if kind == "fit" else kind]
                key = "fit_linear" if kind == "fit" else kind
                chart.line(f"{wiring}_{kind}", series, self._entry(wiring, key))
        for wiring in WIRINGS:
            series = SERIES[wiring]["measured"]
            chart.spread(f"{wiring}_spread", series)
            chart.points(f"{wiring}_measured", series, self._entry(wiring, "measured"))
            chart.labels(f"{wiring}_label", series.color)
        chart.legend()
        return chart

    def _build_shares(self) -> Chart:
        chart = Chart(height=400)
        for wiring in WIRINGS:
            for kind in ("attention", "ffn"):
                chart.line(f"{wiring}_{kind}_theory", SERIES[wiring]["theory"])
        for kind in ("attention", "ffn"):
            for wiring in WIRINGS:
                series = replace(SERIES[wiring]["measured"], filled=kind == "attention")
                chart.spread(f"{wiring}_{kind}_spread", series, line_width=1)
                chart.points(f"{wiring}_{kind}", series, self._entry(wiring, kind))
        for wiring in WIRINGS:
            chart.labels(f"{wiring}_label", SERIES[wiring]["measured"].color)
        chart.legend()
        return chart

    # ------------------------------------------------------------------ drawing

    def draw(self) -> None:
        self._draw_changes()
        self._draw_shares()

    def _draw_changes(self) -> None:
        chart, say = self.charts["sensitivity"], self.say
        estimate, measured = self._estimate, self.answer("measured")
        depths: Sequence[int] = estimate.columns["depth"]
        rows = rows_at(depths, self._depths)
        ends, heights = [], []
        for wiring in WIRINGS:
            theory = estimate.columns.get(f"{wiring}_theory")
            curve = self._center(estimate, wiring)
            chart.show(f"{wiring}_theory", x=self._places(depths if theory else ()), y=theory or [])
            chart.visible(f"{wiring}_theory", theory is not None)
            chart.show(f"{wiring}_estimate", x=self._places(depths), y=curve)
            heights += finite(theory or [], curve)
            points = [] if measured is None else rows
            center, low, high = (
                [] if measured is None else [column[row] for row in rows]
                for column in self._columns(measured or estimate, wiring)
            )
            x = self._places([depths[row] for row in points])
            chart.show(f"{wiring}_measured", x=x, y=center)
            chart.show(f"{wiring}_spread", x=x, low=low, high=high)
            heights += finite(center)
            ceiling = max(heights, default=0.0) * 1.5  # one wild seed is not to set the scale
            heights += [min(height, ceiling) for height in finite(high)]
            ends.append((theory or curve)[-1])
            self._draw_fit(chart, wiring)
        top = nice_ceiling(max(heights, default=0.0) * 1.04)
        for wiring, y in zip(WIRINGS, apart(ends, top * 0.07), strict=True):
            name = say(f"wiring.{wiring}")
            chart.show(f"{wiring}_label", x=self._places([DEEPEST]), y=[y], text=[name])
        first, last = self._places([1, DEEPEST])
        width = last - first
        chart.limits(x=(first - 0.03 * width, last + 0.22 * width), y=(0, top))
        chart.ticks(self._ticks())
        chart.mark("depth", self._places([self.values["depth"]])[0])
        along = "layers_log" if self._logarithmic else "layers"
        chart.axis_labels(x=say(f"sensitivity.figure.{along}"), y=say("sensitivity.figure.change"))

    def _draw_fit(self, chart: Chart, wiring: str) -> None:
        """The law that is a straight line on this axis, fitted up to N and carried on to the end:
        it either foretells the deeper stacks or misses them."""
        law = "log" if self._logarithmic else "linear"
        fit = self._fits[wiring]
        chart.entry(f"{wiring}_fit", self._entry(wiring, f"fit_{law}"))
        if fit is None:
            chart.show(f"{wiring}_fit", x=[], y=[])
            return
        ends = [1, DEEPEST]
        line = [
            fit[law]["slope"] * (math.log(n) if law == "log" else n) + fit[law]["intercept"]
            for n in ends
        ]
        chart.show(f"{wiring}_fit", x=self._places(ends), y=line)

    def _draw_shares(self) -> None:
        chart, say, depth = self.charts["beta"], self.say, self.values["depth"]
        result = self._beta
        ends, heights = [], []
        for wiring in WIRINGS:
            theory = result.columns.get(f"{wiring}_theory")
            last = []
            for offset, kind in enumerate(("attention", "ffn")):
                rows = range(offset, 2 * depth, 2)
                x = [row // 2 + 1 + (offset - 0.5) * 0.4 for row in rows]
                center, low, high = (
                    [column[row] for row in rows] for column in self._columns(result, wiring)
                )
                curve = [theory[row] for row in rows] if theory else []
                chart.show(f"{wiring}_{kind}", x=x, y=center)
                chart.show(f"{wiring}_{kind}_spread", x=x, low=low, high=high)
                chart.show(f"{wiring}_{kind}_theory", x=x if theory else [], y=curve)
                chart.size(f"{wiring}_{kind}", max(4, min(10, 150 / depth)))
                heights += finite(center, high, curve)
                last.append((curve or center)[-1])
            ends.append(sum(last) / 2)
        top = min(nice_ceiling(max(heights, default=0.0) * 1.02), 1.0)
        end = depth + 0.5
        for wiring, y in zip(WIRINGS, apart(ends, top * 0.08), strict=True):
            chart.show(f"{wiring}_label", x=[end], y=[y], text=[say(f"wiring.{wiring}")])
        chart.limits(x=(0.4, end + 0.22 * depth), y=(0, top))
        chart.ticks(layer_ticks(depth))
        chart.axis_labels(x=say("sensitivity.figure.layer"), y=say("sensitivity.figure.share"))

    # ------------------------------------------------------------------ words

    def sentences(self) -> list[str]:
        say = self.say
        words = [*self._not_finite()]
        ratio, error = self._ratio()
        if math.isfinite(ratio) and ratio > 0:
            words.append(
                say(
                    "sensitivity.measured" if self._kind == "measured" else "sensitivity.estimated",
                    depth=self.values["depth"],
                    change=self.percent(self.values["change"]),
                    ratio=with_error(ratio, error),
                    length=significant(math.sqrt(ratio), 2),
                    seeds=self._seeds(self._kind),
                )
            )
        if self._source.done == 1:
            words.append(say("sensitivity.one_seed"))
        words.append(self._laws())
        if self.values["width"] < WIDE:
            words.append(say("sensitivity.geometric"))
        if not self._has_theory:
            words.append(say("sensitivity.no_theory"))
        words += self._large()
        return words

    def _laws(self) -> str:
        """Which law each wiring follows over the depths up to N, if they can be told apart."""
        say, depth = self.say, self.values["depth"]
        laws = self._fits
        post, pre = laws["post_ln"], laws["pre_ln"]
        if depth <= SHALLOW or post is None or pre is None:
            return say("sensitivity.too_shallow", depth=depth)
        r2 = {
            f"{name}_{law}": r_squared(fit[law]["r2"])
            for name, fit in (("post", post), ("pre", pre))
            for law in ("linear", "log")
        }
        verdicts = {wiring: verdict(fit) for wiring, fit in (("post_ln", post), ("pre_ln", pre))}
        if set(verdicts.values()) == {"both"}:
            return say("sensitivity.undecided", depth=depth, **r2)
        clauses = {
            name: say(
                f"sensitivity.law.{verdicts[wiring]}",
                wiring=say(f"wiring.{wiring}"),
                linear=r2[f"{name}_linear"],
                log=r2[f"{name}_log"],
            )
            for name, wiring in (("post", "post_ln"), ("pre", "pre_ln"))
        }
        return say("sensitivity.laws", depth=depth, **clauses)

    def _large(self) -> list[str]:
        """Where the change is too large for the first order that the curves are."""
        change = self.values["change"]
        for row in rows_at(self._source.columns["depth"], self._depths):
            for wiring in WIRINGS:
                if self._center(self._source, wiring)[row] * change**2 >= LARGE:
                    return [
                        self.say(
                            "sensitivity.large",
                            depth=self._source.columns["depth"][row],
                            change=self.percent(change),
                            wiring=self.say(f"wiring.{wiring}"),
                        )
                    ]
        return []

    def _not_finite(self) -> list[str]:
        sentences = []
        for wiring in WIRINGS:
            source, values = self._source, self._center(self._source, wiring)
            bad = next((row for row, value in enumerate(values) if not math.isfinite(value)), None)
            if bad is not None:
                sentences.append(
                    self.say(
                        "sensitivity.not_finite",
                        wiring=self.say(f"wiring.{wiring}"),
                        what=self.say(f"sensitivity.what.{self._kind}"),
                        depth=source.columns["depth"][bad],
                        value="NaN" if math.isnan(values[bad]) else significant(values[bad]),
                    )
                )
        return sentences

    def _seeds(self, kind: str) -> str:
        work = self.works[kind]
        result = self.answer(kind)
        assert result is not None
        if work.finished:
            return self.say("experiment.seeds", n=result.total)
        state = "seeds_so_far" if work.running else "seeds_stopped"
        return self.say(f"experiment.{state}", done=result.done, total=result.total)

    def tables(self) -> list[Table]:
        say, values = self.say, self.values
        change = self.percent(values["change"])
        tables = [self._fit_table()]
        for kind in ("measured", "estimate"):
            result = self.answer(kind)
            if result is not None:
                caption = say(
                    f"sensitivity.table.{kind}", change=change, seeds=self._seeds(kind)
                )
                rows = rows_at(result.columns["depth"], self._depths)
                tables.append(result_table(result, say, name=kind, caption=caption, rows=rows))
        caption = say("sensitivity.table.beta", depth=values["depth"], seeds=self._seeds("beta"))
        rows = range(2 * values["depth"])
        return [*tables, result_table(self._beta, say, name="beta", caption=caption, rows=rows)]

    def _fit_table(self) -> Table:
        say = self.say
        rows = [
            [
                say(f"wiring.{wiring}"),
                say(f"sensitivity.table.{law}"),
                significant(fit[law]["slope"]),
                significant(fit[law]["intercept"]),
                r_squared(fit[law]["r2"]),
            ]
            for wiring, fit in self._fits.items()
            if fit is not None
            for law in ("linear", "log")
        ]
        heads = [("wiring", say("experiment.table.wiring"))]
        heads += [(key, say(f"sensitivity.table.{key}")) for key in ("law", "slope", "intercept", "r2")]
        source = say(f"sensitivity.table.fits_{self._kind}")
        caption = say("sensitivity.table.fits", depth=self.values["depth"], source=source)
        return Table("fits", caption, heads, rows)

    def details(self) -> list[tuple[str, str]]:
        say, values = self.say, self.values
        config = self._estimate.config
        attention = values["attention"]
        of_attention, of_ffn = sensitivity.K[attention]
        estimate = say("sensitivity.details.estimate_text", attention=of_attention, ffn=of_ffn)
        if attention == "softmax":
            estimate += say("sensitivity.details.estimate_softmax")
        center = "geomean" if values["width"] < WIDE else "mean"
        pairs = [
            ("experiment.details.stacks", say("experiment.details.stack", **config)),
            ("experiment.details.attention", say(f"sensitivity.details.{attention}")),
            (
                "experiment.details.seeds",
                say("experiment.details.from_seed", n=config["seeds"], seed=config["seed"]),
            ),
            ("sensitivity.details.estimate", estimate),
            (
                "sensitivity.details.measured",
                say("sensitivity.details.measured_text", change=self.percent(values["change"])),
            ),
            ("sensitivity.details.center", say(f"sensitivity.details.center_{center}")),
        ]
        if self._has_theory:
            pairs.append(("sensitivity.details.theory", say("sensitivity.details.theory_text")))
        pairs.append(("experiment.details.version", NUMBERS_VERSION))
        return [(say(key), text) for key, text in pairs]

    # ------------------------------------------------------------------ reading the answers

    @property
    def _estimate(self) -> Result:
        result = self.answer("estimate")
        assert result is not None
        return result

    @property
    def _beta(self) -> Result:
        result = self.answer("beta")
        assert result is not None
        return result

    @property
    def _kind(self) -> Kind:
        return "estimate" if self.answer("measured") is None else "measured"

    @property
    def _source(self) -> Result:
        """What sentence and fits rest on: the measurement as soon as there is one."""
        return self.answer("measured") or self._estimate

    @property
    def _has_theory(self) -> bool:
        return f"{WIRINGS[0]}_theory" in self._estimate.columns

    @property
    def _depths(self) -> list[int]:
        """The depths that are drawn as points, listed and fitted: the usual ones, and N."""
        return sorted({*DEPTHS, self.values["depth"]})

    @property
    def _fits(self) -> dict[str, dict[str, Any] | None]:
        """Both laws, fitted over the depths up to N."""
        source = self._source
        upto = [depth for depth in self._depths if depth <= self.values["depth"]]
        rows = rows_at(source.columns["depth"], upto)
        laws = {}
        for wiring in WIRINGS:
            values = self._center(source, wiring)
            good = [row for row in rows if math.isfinite(values[row])]
            depths = [source.columns["depth"][row] for row in good]
            laws[wiring] = fits(depths, [values[row] for row in good])
        return laws

    def _ratio(self) -> tuple[float, float]:
        """Post over Pre at N with its standard error, from the same seeds."""
        columns = self._source.columns
        row = columns["depth"].index(self.values["depth"])
        name = "ratio" if self.values["width"] >= WIDE else "ratio_geomean"
        return columns[name][row], columns[f"{name}_se"][row]

    def _center(self, result: Result, wiring: str) -> list[float]:
        wide = self.values["width"] >= WIDE
        column: list[float] = result.columns[wiring if wide else f"{wiring}_geomean"]
        return column

    def _columns(self, result: Result, wiring: str) -> tuple[list[float], list[float], list[float]]:
        low, high = (result.columns[f"{wiring}_{end}"] for end in ("p10", "p90"))
        return self._center(result, wiring), low, high

    # ------------------------------------------------------------------ the axis of depths

    @property
    def _logarithmic(self) -> bool:
        return bool(self.values["axis"] == "log2")

    def _places(self, depths: Sequence[int]) -> list[float]:
        return [math.log2(depth) if self._logarithmic else float(depth) for depth in depths]

    def _ticks(self) -> dict[float, str]:
        if not self._logarithmic:
            return layer_ticks(DEEPEST)
        depths = [*(2**k for k in range(6)), DEEPEST]
        return dict(zip(self._places(depths), map(str, depths), strict=True))

    def _entry(self, wiring: str, key: str) -> str:
        return self.say(f"sensitivity.figure.{key}", wiring=self.say(f"wiring.{wiring}"))

    def percent(self, share: float) -> str:
        return self.say("experiment.percent", n=percent(share))


def verdict(fit: dict[str, Any]) -> Literal["linear", "log", "both", "neither"]:
    """Which law a fit of both speaks for."""
    linear, log = fit["linear"]["r2"], fit["log"]["r2"]
    if max(linear, log) < POOR:
        return "neither"
    if min(linear, log) >= FITS or abs(linear - log) < CLOSE:
        return "both"
    return "linear" if linear > log else "log"
