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
from app.ui.figures import Chart, apart, finite, layer_ticks, nice_ceiling
from app.ui.markup import Table
from app.ui.numbers import percent, r_squared, significant, with_error
from app.ui.theme import SERIES

WIRINGS = ("post_ln", "pre_ln")
DEEPEST = int(OPTIONS["depth"].high or 0)
DEPTHS: tuple[int, ...] = OPTIONS["depths"].default  # where points are drawn and laws are fitted
CHANGES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
WIDTHS = (32, 64, 128, 256, 512)
SEEDS = (1, 2, 4, 8, 16, 24, 48, 96)
AXIS = Option("axis", "choice", "linear", choices=("linear", "log2"))
CHANGE = replace(OPTIONS["change"], low=CHANGES[0], high=CHANGES[-1])
WIDTH = replace(OPTIONS["width"], low=WIDTHS[0], high=WIDTHS[-1], step=1)
SEED_COUNT = replace(OPTIONS["seeds"], low=SEEDS[0], high=SEEDS[-1])

WIDE = 128  # from here on, means; below, geometric means
SHALLOW = 4  # up to here no measurement tells N from ln N
FITS, CLOSE, POOR = 0.98, 0.01, 0.9  # of R²: a law fits from here; as good as equal; fits badly
LARGE = 1 / 25  # mean square, a fifth in length: from there on δ matters by a tenth or more

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
            slider(CHANGE, self.say, values=CHANGES, shown=self.percent),
            select(WIDTH, self.say, values=WIDTHS, shown=str),
            switch(OPTIONS["attention"], self.say),
            select(SEED_COUNT, self.say, values=SEEDS, shown=str),
            number(OPTIONS["seed"], self.say),
        ]

    def build_charts(self) -> dict[str, Chart]:
        return {"sensitivity": self._build_changes(), "beta": self._build_shares()}

    def _build_changes(self) -> Chart:
        chart = Chart(height=420)
        chart.upright("depth")
        for wiring in WIRINGS:
            series = SERIES[wiring]
            chart.line(f"{wiring}_theory", series["theory"])
            chart.line(f"{wiring}_fit", series["linear"])
            chart.line(f"{wiring}_estimate", series["estimate"])
            chart.points(f"{wiring}_estimates", series["estimate"])
            chart.spread(f"{wiring}_spread", series["measured"])
            chart.spread(f"{wiring}_error", series["measured"], line_width=5)
            chart.points(f"{wiring}_measured", series["measured"])
            chart.labels(f"{wiring}_label", series["measured"].color)
        chart.legend(
            {
                "theory": self._row("theory", "theory"),
                "estimate": self._row("estimate", "estimate", "estimates"),
                "measured": self._row("measured", "spread", "measured"),
                "fit": (*self._pair("fit"), ""),  # says up to which N, once there is one
            }
        )
        return chart

    def _build_shares(self) -> Chart:
        chart = Chart(height=396)  # one row less of legend
        for wiring in WIRINGS:
            for kind in ("attention", "ffn"):
                series = SERIES[wiring]["estimate"]
                chart.line(f"{wiring}_{kind}_theory", SERIES[wiring]["theory"], line_width=1.5)
                chart.spread(f"{wiring}_{kind}_spread", series, line_width=1, line_alpha=0.6)
                marks = replace(series, filled=kind == "attention")
                chart.points(f"{wiring}_{kind}", marks)
            chart.labels(f"{wiring}_label", SERIES[wiring]["estimate"].color)
        chart.legend(
            {
                "attention": self._row("attention", "attention"),
                "ffn": self._row("ffn", "ffn"),
                "theory": self._row("theory", "attention_theory", "ffn_theory"),
            }
        )
        return chart

    def _row(self, word: str, *glyphs: str) -> tuple[list[str], list[str], str]:
        return *self._pair(*glyphs), self.say(f"sensitivity.figure.{word}")

    def _pair(self, *glyphs: str) -> tuple[list[str], list[str]]:
        left, right = ([f"{wiring}_{glyph}" for glyph in glyphs] for wiring in WIRINGS)
        return left, right

    # ------------------------------------------------------------------ drawing

    def draw(self) -> None:
        self._laws_fitted = self._fit()
        self._draw_changes()
        self._draw_shares()

    def _draw_changes(self) -> None:
        chart, say, log = self.charts["sensitivity"], self.say, self._logarithmic
        estimate, measured = self._estimate, self.answer("measured")
        depths: Sequence[int] = estimate.columns["depth"]
        rows = rows_at(depths, self._depths)
        x, points = self._places(depths), self._places([depths[row] for row in rows])
        ends, heights = [], []
        for wiring in WIRINGS:
            theory = estimate.columns.get(f"{wiring}_theory") or []
            curve = self._center(estimate, wiring)
            chart.show(f"{wiring}_theory", x=x if theory else [], y=theory)
            chart.show(f"{wiring}_estimate", x=x, y=curve)
            chart.show(f"{wiring}_estimates", x=points, y=[curve[row] for row in rows])
            heights += finite(theory, curve, self._draw_measured(chart, wiring, rows, points))
            ends.append((theory or curve)[-1])
            self._draw_fit(chart, wiring)
            chart.visible(measured is None, f"{wiring}_estimates")
        chart.visible(self._has_theory, row="theory")
        chart.visible(measured is not None, row="measured")
        chart.visible(any(self._laws_fitted.values()), row="fit")
        top = nice_ceiling(max(heights, default=0.0) * 1.04)
        for wiring, y in zip(WIRINGS, apart(ends, top * 0.07), strict=True):
            chart.show(f"{wiring}_label", x=x[-1:], y=[y], text=[say(f"wiring.{wiring}")])
        margin = 0.03 * (x[-1] - x[0])
        chart.limits(x=(x[0] - margin, x[-1] + margin), y=(0, top))
        chart.ticks(self._ticks())
        chart.mark("depth", self._places([self.values["depth"]])[0])
        center = "measured" if self._wide else "measured_geomean"
        chart.reword("measured", say(f"sensitivity.figure.{center}"))
        law = "fit_log" if log else "fit_linear"
        chart.reword("fit", say(f"sensitivity.figure.{law}", depth=self.values["depth"]))
        chart.axis_labels(
            x=say(f"sensitivity.figure.layers{'_log' if log else ''}"),
            y=say("sensitivity.figure.change"),
        )

    def _draw_measured(
        self, chart: Chart, wiring: str, rows: Sequence[int], x: Sequence[float]
    ) -> list[float]:
        """Points, their errors and spread; returns the heights that the axis has to reach."""
        measured = self.answer("measured")
        if measured is None:
            for glyph in ("spread", "error"):
                chart.show(f"{wiring}_{glyph}", x=[], low=[], high=[])
            chart.show(f"{wiring}_measured", x=[], y=[])
            return []
        center, low, high = ([c[row] for row in rows] for c in self._columns(measured, wiring))
        chart.show(f"{wiring}_measured", x=x, y=center)
        chart.show(f"{wiring}_spread", x=x, low=low, high=high)
        errors = [measured.columns[f"{wiring}_se"][row] for row in rows]
        exact = zip(center, errors, strict=True)
        bars = [(c - e, c + e) if self._wide else (math.nan, math.nan) for c, e in exact]
        chart.show(f"{wiring}_error", x=x, low=[b[0] for b in bars], high=[b[1] for b in bars])
        ceiling = 2 * max(finite(center), default=0.0)  # one wild seed is not to set the scale
        return finite(center) + [min(height, ceiling) for height in finite(high)]

    def _draw_fit(self, chart: Chart, wiring: str) -> None:
        """The law that is a straight line on this axis, fitted up to N and carried on to the end:
        it either foretells the deeper stacks or misses them."""
        fit = self._laws_fitted[wiring]
        if fit is None:
            chart.show(f"{wiring}_fit", x=[], y=[])
            return
        law = fit["log" if self._logarithmic else "linear"]
        ends = [1, DEEPEST]
        u = [math.log(n) for n in ends] if self._logarithmic else ends
        y = [law["slope"] * each + law["intercept"] for each in u]
        chart.show(f"{wiring}_fit", x=self._places(ends), y=y)

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
        for wiring, y in zip(WIRINGS, apart(ends, top * 0.08), strict=True):
            chart.show(f"{wiring}_label", x=[depth + 0.5], y=[y], text=[say(f"wiring.{wiring}")])
        chart.visible(self._has_theory, row="theory")
        chart.limits(x=(0.5, depth + 0.5), y=(0, top))
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
        if not self._wide:
            words.append(say("sensitivity.geometric"))
        if not self._has_theory:
            words.append(say("sensitivity.no_theory"))
        words += self._large()
        return words

    def _laws(self) -> str:
        """Which law each wiring follows over the depths up to N, if they can be told apart."""
        say, depth = self.say, self.values["depth"]
        laws = self._laws_fitted
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
                caption = say(f"sensitivity.table.{kind}", change=change, seeds=self._seeds(kind))
                rows = rows_at(result.columns["depth"], self._depths)
                tables.append(result_table(result, say, name=kind, caption=caption, rows=rows))
        caption = say("sensitivity.table.beta", depth=values["depth"], seeds=self._seeds("beta"))
        sublayers = range(2 * values["depth"])
        return [
            *tables,
            result_table(self._beta, say, name="beta", caption=caption, rows=sublayers),
        ]

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
            for wiring, fit in self._laws_fitted.items()
            if fit is not None
            for law in ("linear", "log")
        ]
        heads = [("wiring", say("experiment.table.wiring"))]
        figures = ("law", "slope", "intercept", "r2")
        heads += [(name, say(f"sensitivity.table.{name}")) for name in figures]
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
        center = "mean" if self._wide else "geomean"
        hidden = "d" if config["ff"] == 1 else f"{config['ff']}·d"
        pairs = [
            ("experiment.details.stacks", say("experiment.details.stack", **config, hidden=hidden)),
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
    def _wide(self) -> bool:
        """Wide enough for plain means; below, the mean over seeds is heavy-tailed."""
        return bool(self.values["width"] >= WIDE)

    @property
    def _depths(self) -> list[int]:
        """The depths that are drawn as points, listed and fitted: the usual ones, and N."""
        return sorted({*DEPTHS, self.values["depth"]})

    def _fit(self) -> dict[str, dict[str, Any] | None]:
        """Both laws, fitted over the depths up to N; None for too few depths."""
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
        name = "ratio" if self._wide else "ratio_geomean"
        return columns[name][row], columns[f"{name}_se"][row]

    def _center(self, result: Result, wiring: str) -> list[float]:
        column: list[float] = result.columns[wiring if self._wide else f"{wiring}_geomean"]
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
