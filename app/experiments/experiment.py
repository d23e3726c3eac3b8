"""What all experiments are: controls, computations, figures, and words that read the result.

An experiment is moved from outside, by `set` (options as text), `press` (a button) and `step`
(one slice of work), and is read by `roots`, `state`, `status`, `progress`, `shown` and `parts`.
It holds its computations itself, as generators; so nothing runs in between, and Stop or a newer
value gets in after any slice. One computation serves many views of it: a control that only
chooses what to look at starts nothing.

A new experiment says what differs: its options and controls, its `Run`s, how they are drawn, and
the sentences (see `sensitivity.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from bokeh.model import Model
from bokeh.plotting import figure

from app.experiments import export
from app.experiments.work import Run, Work
from app.probes.options import Notice
from app.probes.result import Result
from app.ui import markup
from app.ui.controls import Control, Pick, button
from app.ui.figures import Chart
from app.ui.markup import Table
from app.ui.numbers import percent, significant
from app.ui.strings import Strings, strings

Status = Literal["computing", "ready", "stopped", "error"]


@dataclass(frozen=True)
class Drawing:
    """A wiring's layer, drawn below the figures. `when`: the state in which it is shown; "" for
    always, else an option and its values as in `data-when` ("variant=admin"). `decoder`: the layer
    of an encoder–decoder's decoder."""

    wiring: str
    when: str = ""
    decoder: bool = False


class Experiment(ABC):
    """One question, answered on the page. Building it computes nothing."""

    name: ClassVar[str]
    runs: ClassVar[Sequence[Run]]
    """What is computed; none for an experiment that only draws what it holds."""
    first: ClassVar[Sequence[str]] = ("depth",)
    """Options whose controls stand above the figures; so do those that no probe takes."""
    needs: ClassVar[Mapping[str, str]] = {}
    """Options whose controls are shown in some states only: what another one must be, as in
    `Drawing.when`. Their values stay, and a sentence says so where they change nothing."""
    drawn: ClassVar[Sequence[str]] = ()
    """Those of `extra_parts` that are drawings, to be taken away as pictures like figures."""
    told: ClassVar[Sequence[str]] = ()
    """Those of `extra_parts` that tell of a result: before the first seed nothing can be told."""
    code: ClassVar[Sequence[Any]] = ()
    """Modules and functions to be shown as its code, besides its probes and wirings."""

    def __init__(self, language: str) -> None:
        self.say: Strings = strings(language)
        self.controls: dict[str, Control] = {c.name: c for c in self.build_controls()}
        self.buttons: dict[str, Control] = {}
        for run in self.runs:
            if run.action:
                self.buttons[run.action] = button(run.action, self.say, primary=True)
        if self.buttons:
            self.buttons["stop"] = button("stop", self.say)
        self.charts: dict[str, Chart] = self.build_charts()
        self.works: dict[str, Work] = {run.name: Work(run) for run in self.runs}
        self.values: dict[str, Any] = self._read()
        """What the controls stand at, typed."""
        self.shown: dict[str, str] = {}
        self.where: str | None = None
        """Where it runs, in words, once that is worth saying ("NumPy 2.2.5 in your browser")."""
        self._defaults = self.state()
        self._parts: dict[str, str] = {}
        self._promised = False  # what the parts hold is only on its way
        self._notices: list[str] = []
        self._remarks: dict[str, str] = {}
        self._failure = ""
        self._undrawn, self._untold = True, False
        """Whether figures, and after them table and details, are still to be brought up to date."""
        self._aim()
        self._set_buttons()

    # ------------------------------------------------------------------ what differs

    @abstractmethod
    def build_controls(self) -> list[Control]:
        """The controls, in the order of the page."""

    @abstractmethod
    def build_charts(self) -> dict[str, Chart]:
        """The figures by slot, in the order of the page, without data."""

    @abstractmethod
    def draw(self) -> None:
        """Show the answers in the figures. Makes no models."""

    @abstractmethod
    def sentences(self) -> list[str]:
        """What the figures say, with its numbers and their uncertainty."""

    @abstractmethod
    def tables(self) -> list[Table]:
        """The numbers behind the figures."""

    @abstractmethod
    def details(self) -> list[tuple[str, str]]:
        """What ran: terms and descriptions."""

    @property
    def wirings(self) -> Sequence[str]:
        """Names of the wirings that ran, whose diagrams and formulas stand below."""
        return tuple(self.runs[0].config(self.values).get("wiring", ())) if self.runs else ()

    @property
    def drawings(self) -> Sequence[Drawing]:
        """What is drawn below of the wirings that ran."""
        return [Drawing(wiring) for wiring in self.wirings]

    def extra_parts(self) -> dict[str, str]:
        """HTML for places (`data-part`) of the experiment's own board, by place."""
        return {}

    # ------------------------------------------------------------------ from outside: read

    @property
    def question(self) -> str:
        return self.say(f"{self.name}.question")

    @property
    def figures(self) -> dict[str, figure]:
        return {slot: chart.plot for slot, chart in self.charts.items()}

    @property
    def captions(self) -> dict[str, str]:
        """What each figure and drawing shows, in words."""
        slots = (*self.charts, *self.drawn)
        return {slot: self.say(f"{self.name}.caption.{slot}") for slot in slots}

    def roots(self) -> dict[str, Model]:
        """Every model that is painted by itself, by slot, always in this order."""
        painted = {name: c for name, c in self.controls.items() if not isinstance(c, Pick)}
        return {
            **{f"control:{name}": control.model for name, control in painted.items()},
            **{f"button:{name}": control.model for name, control in self.buttons.items()},
            **{f"figure:{slot}": chart.plot for slot, chart in self.charts.items()},
        }

    def state(self) -> dict[str, str]:
        return {name: control.text for name, control in self.controls.items()}

    @property
    def status(self) -> Status:
        if self._failure:
            return "error"
        unsaid = self._undrawn or self._untold
        if unsaid or any(work.running for work in self.works.values()):
            return "computing"
        if any(work.paused for work in self.works.values()):
            return "stopped"
        return "ready"

    @property
    def progress(self) -> tuple[int, int] | None:
        """Seeds done and seeds in all, of what is being computed now."""
        work = self._next()
        if work is None:
            return None
        return (work.result.done, work.result.total) if work.result else (0, work.expected)

    def parts(self) -> dict[str, str]:
        """The words as HTML, by place. Before the first answer there is only `notice`."""
        notices = [
            *self._notices,
            *self._remarks.values(),
            *([self._failure] if self._failure else []),
        ]
        return {**self._parts, "notice": markup.paragraphs(notices)}

    def results(self) -> dict[str, Result]:
        """The newest answers by name, for those who want the numbers themselves."""
        newest = {name: work.result for name, work in self.works.items()}
        return {name: result for name, result in newest.items() if result is not None}

    @property
    def settled(self) -> bool:
        """Whether all that runs by itself has answered the present state, or has failed, and it is
        shown."""
        automatic = [work for work in self.works.values() if work.run.action is None]
        return not self._undrawn and not any(work.running for work in automatic)

    # ------------------------------------------------------------------ from outside: move

    def set(self, state: Mapping[str, str]) -> list[str]:
        """Take option values as text. Returns what had to be changed about them, in words."""
        before = self.values  # not what the controls hold: a hand may have moved them already
        self._notices = []
        for name, text in state.items():
            if name not in self.controls:
                self._notices.append(self.say("experiment.notice.unknown", name=name))
                continue
            control = self.controls[name]
            assert control.option is not None
            value, notice = control.option.parse(text)
            if control.set(value) != value:
                notice = notice or Notice("rounded", name, text, "", None, None)
                notice = replace(notice, used=control.text)
            if notice is not None:
                self._notices.append(self._in_words(notice, control))
        self.values = self._read()
        if self.values != before:
            self._failure = ""
            self._undrawn, self._untold = True, False
            self._aim()
            self._set_buttons()
        return list(self._notices)

    def press(self, action: str) -> None:
        """A button. The run's own starts it (or goes on after a stop); "stop" stops all of them,
        "reset" forgets what they answered."""
        self._failure = ""
        for work in self.works.values():
            if work.run.action is None:
                work.retry()
            elif action == "stop":
                work.pause()
            elif action == "reset":
                self._remarks.pop(work.run.name, None)
                work.drop()
            elif action == work.run.action:
                self._remarks.pop(work.run.name, None)
                work.start()
        self._undrawn, self._untold = True, False
        self._set_buttons()

    def step(self) -> bool:
        """One slice of what is most needed. True while more remains to be done."""
        if self._undrawn and self._drawable():
            self._publish()
        elif self._untold:
            self._tell()
        else:
            self._advance()
        more = self._untold or (self._undrawn and self._drawable())
        return more or self._next() is not None

    def learn(self, other: Experiment) -> None:
        """Take over the finished answers of the same experiment, say in another language."""
        for name, work in self.works.items():
            work.learn(other.works[name])
        self._aim()

    # ------------------------------------------------------------------ for the subclass

    def answer(self, run: str) -> Result | None:
        """A run's newest answer, perhaps a partial one."""
        return self.works[run].result

    def seeds_of(self, run: str) -> str:
        """On how many seeds a run's answer rests: all, so many so far, or stopped after so many."""
        work = self.works[run]
        assert work.result is not None
        if work.finished:
            return self.say("experiment.seeds", n=work.result.total)
        state = "seeds_so_far" if work.running else "seeds_stopped"
        return self.say(f"experiment.{state}", done=work.result.done, total=work.result.total)

    def percent(self, share: float) -> str:
        return self.say("experiment.percent", n=percent(share))

    def stack_in_words(self, config: Mapping[str, Any]) -> str:
        hidden = "d" if config["ff"] == 1 else f"{config['ff']}·d"
        return self.say("experiment.details.stack", **config, hidden=hidden)

    def attention_in_words(self, config: Mapping[str, Any], *, curves: bool = False) -> str:
        """`curves`: uniform attention has theory curves here, and softmax is said to have none."""
        kind = config["attention"]
        ending = "_no_curve" if curves and kind == "softmax" else ""
        return self.say(f"experiment.details.{kind}{ending}")

    def seeds_in_words(self, config: Mapping[str, Any]) -> str:
        return self.say("experiment.details.from_seed", n=config["seeds"], seed=config["seed"])

    # ------------------------------------------------------------------

    def _read(self) -> dict[str, Any]:
        return {name: control.value for name, control in self.controls.items()}

    def _aim(self) -> None:
        """Point every run at the present state; end what no longer answers it, and say so."""
        for work in self.works.values():
            was_running, had_answer, name = work.running, work.result is not None, work.run.name
            if work.aim(work.run.config(self.values)) and work.run.action:
                if was_running:
                    self._remarks[name] = self.say(f"{self.name}.ended.{name}")
                elif had_answer:
                    self._remarks[name] = self.say(f"{self.name}.cleared.{name}")

    def _next(self) -> Work | None:
        """What runs by itself goes first, for everything else is drawn upon it; and of those what
        is furthest behind, for they are drawn together."""
        running = [work for work in self.works.values() if work.running]
        return min(running, key=_urgency, default=None)

    def _drawable(self) -> bool:
        """Is there something to show, all of it for one state?

        A page opens with the finished figures of the default state: there, the first partial
        answers would be a step back.
        """
        automatic = [work for work in self.works.values() if work.run.action is None]
        if not self.shown and self.state() == self._defaults and not self._failure:
            return all(work.finished for work in automatic)
        return all(work.result is not None for work in automatic)

    def _advance(self) -> None:
        work = self._next()
        if work is None:
            return
        try:
            self._undrawn = work.advance() or self._undrawn
        except (ArithmeticError, MemoryError) as error:
            cause = "memory" if isinstance(error, MemoryError) else "overflow"
            reason = self.say(f"experiment.reason.{cause}", detail=error)
            self._fail(work, self.say("experiment.failed", reason=reason))
        except Exception:
            self._fail(work, self.say("experiment.broken"))
            raise
        self._set_buttons()

    def _fail(self, work: Work, sentence: str) -> None:
        work.fail()
        self._undrawn = False
        self._failure = sentence
        if self._promised:  # what was on its way will not come
            self._parts = dict.fromkeys(self._parts, "")

    def _publish(self) -> None:
        """What a hand on a slider looks at."""
        self._undrawn = False
        self.draw()
        self.shown = self.state()
        self._untold = all(result.whole for result in self.results().values())
        self._promised = not self._untold
        if self._untold:
            sentence = markup.sentences(self.sentences(), self.say("experiment.between"))
            self._parts |= {"sentence": sentence, **self.extra_parts()}
        else:  # nothing can be said yet, and what was said before is about another state
            places = ("table", "details", "terminal", *self.told)
            self._parts = dict.fromkeys(places, markup.on_its_way(self.say("experiment.not_there")))
            self._parts["sentence"] = markup.on_its_way(self.say("experiment.beginning"))
        self._set_buttons()

    def _tell(self) -> None:
        """The rest, which takes most of the time: a slice of its own, so that a hand that moved on
        meanwhile is followed first."""
        self._untold = False
        self._parts |= {
            "table": "".join(markup.table(table) for table in self.tables()),
            "details": markup.descriptions(self.details()) + self._timing(),
            "terminal": export.commands(self.results().values()),
        }

    def _timing(self) -> str:
        """How long it took, in an element of its own: the only words that a clock writes."""
        if self.where is None or not self.works:
            return ""
        seconds = significant(sum(work.seconds for work in self.works.values()), 2)
        words = self.say("experiment.timing", seconds=seconds, where=self.where)
        return f"<p data-timing>{markup.text(words)}</p>"

    def _set_buttons(self) -> None:
        if not self.buttons:
            return
        busy = False
        for work in self.works.values():
            if work.run.action:
                busy = busy or work.running
                _set_disabled(self.buttons[work.run.action], work.running)
        _set_disabled(self.buttons["stop"], not busy)

    def _in_words(self, notice: Notice, control: Control) -> str:
        return self.say(
            f"experiment.notice.{notice.kind}",
            label=control.label,
            given=notice.given,
            used=control.named(notice.used),
            low=notice.low,
            high=notice.high,
        )


def _urgency(work: Work) -> tuple[bool, int]:
    return work.run.action is not None, work.result.done if work.result else -1


def _set_disabled(control: Control, disabled: bool) -> None:
    if control.disabled != disabled:
        control.disabled = disabled
