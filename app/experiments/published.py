"""What did whole training runs show? The published results, as far as their numbers are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from app.experiments import published_values
from app.experiments.experiment import Experiment
from app.experiments.published_values import BERT_LOSS, REPORTS, VERSION, Report, Value
from app.experiments.work import Run
from app.nn.wirings import BASE
from app.probes.options import Option
from app.ui.controls import Control, select
from app.ui.figures import Chart
from app.ui.markup import Table
from app.ui.scales import nice_ceiling
from app.ui.strings import Strings
from app.ui.theme import SERIES

RESULT = Option("result", "choice", REPORTS[0].key, choices=tuple(r.key for r in REPORTS))


class Published(Experiment):
    name = "published"
    first = ("result",)
    runs: ClassVar[Sequence[Run]] = ()
    code = (published_values,)

    def build_controls(self) -> list[Control]:
        return [select(RESULT, self.say, key="published.option.result")]

    def build_charts(self) -> dict[str, Chart]:
        self.bars = Bars(self.say)
        return {"published": self.bars}

    @property
    def report(self) -> Report:
        return next(report for report in REPORTS if report.key == self.values["result"])

    def draw(self) -> None:
        self.bars.draw(self.report)

    def sentences(self) -> list[str]:
        report = self.report
        heights = {key: f"{height:g}" for key, height in report.heights.items()}
        return [
            self.say(f"published.{report.key}", **heights, loss=BERT_LOSS),
            self._source(report),
        ]

    def _source(self, report: Report) -> str:
        return self.say("published.source", figure=report.figure, page=report.page)

    def tables(self) -> list[Table]:
        say, report = self.say, self.report
        columns = ("bar", "wiring", "value", "source")
        return [
            Table(
                name="published",
                caption=say(f"published.axis.{report.key}"),
                columns=[(name, say(f"published.table.{name}")) for name in columns],
                rows=[
                    [
                        say(f"published.bar.{value.key}").replace("\n", " "),
                        say(f"wiring.{value.wiring}"),
                        f"{value.height:g}",
                        say(
                            f"published.table.{value.source}",
                            figure=report.figure,
                            page=report.page if value.source == "figure" else report.words_page,
                        ),
                    ]
                    for value in report.values
                ],
            )
        ]

    def details(self) -> list[tuple[str, str]]:
        say, key = self.say, self.report.key
        pairs = [
            ("published.details.paper", say("published.details.paper_text", version=VERSION)),
            ("published.details.setting", say(f"published.details.{key}")),
            ("published.details.read", say("published.details.read_text")),
        ]
        return [(say(term), text) for term, text in pairs]


class Bars(Chart):
    """A bar per number: full where the paper gives it, a frame where it is only about so."""

    def __init__(self, say: Strings) -> None:
        super().__init__(height=360)
        self.plot.min_border_right = 16  # nothing is named there, and a phone is narrow
        self.say = say
        for wiring in BASE:
            series = SERIES[wiring]["measured"]
            self.bars(f"{wiring}_text", series, width=0.6)
            self.bars(f"{wiring}_about", replace(series, filled=False), width=0.6)
            self.labels(
                f"{wiring}_value",
                series.color,
                text_align="center",
                text_baseline="bottom",
                x_offset=0,
                y_offset=-3,
            )
        self.legend(
            {
                source: (
                    *([f"{wiring}_{source}"] for wiring in BASE),
                    say(f"published.figure.{source}"),
                )
                for source in ("text", "about")
            }
        )

    def draw(self, report: Report) -> None:
        places = {value.key: float(place) for place, value in enumerate(report.values, 1)}

        def show(name: str, values: Sequence[Value]) -> None:
            self.show(
                name,
                x=[places[value.key] for value in values],
                low=[0] * len(values),
                high=[value.height for value in values],
            )

        for wiring in BASE:
            own = [value for value in report.values if value.wiring == wiring]
            show(f"{wiring}_text", [value for value in own if value.source == "text"])
            show(f"{wiring}_about", [value for value in own if value.source != "text"])
            self.show(
                f"{wiring}_value",
                x=[places[value.key] for value in own],
                y=[value.height for value in own],
                text=[f"{value.height:g}" for value in own],
            )
        for source, among in (("text", {"text"}), ("about", {"about", "figure"})):
            self.visible(any(value.source in among for value in report.values), row=source)
        top = nice_ceiling(1.12 * max(report.heights.values()))
        self.limits(x=(0.4, len(places) + 0.6), y=(0, top))
        self.ticks({place: self.say(f"published.bar.{key}") for key, place in places.items()})
        self.axis_labels(x="", y=self.say(f"published.axis.{report.key}"))
