"""One block, stage by stage: what each computes, holds and costs, here and in published models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from app.experiments import block_counts
from app.experiments.block_counts import STAGES, Count, of_model, of_stack, total
from app.experiments.experiment import Experiment
from app.experiments.models import MODELS, Model
from app.experiments.work import Run
from app.nn import stack, wirings
from app.nn.stack import StackConfig
from app.nn.wirings import BASE, WIRINGS
from app.probes.options import Option
from app.ui import markup
from app.ui.controls import Control, pick, select, slider
from app.ui.diagram import diagram
from app.ui.figures import Chart
from app.ui.markup import Table
from app.ui.numbers import significant, whole

TINY = 0.0001  # of all parameters: smaller shares are not told apart
EXAMPLE = "GPT-2 small"  # of a published model, in the sentence
WIDTHS = (32, 64, 128, 256, 512, 768, 1024, 2048, 4096)
FFS = (1, 2, 4)
TOKENS = (1, 5, 16, 64, 256, 1024, 4096)
STAGE = Option("stage", "choice", "attention", choices=STAGES)
WIDTH = Option("width", "int", 128, low=WIDTHS[0], high=WIDTHS[-1])
FF = Option("ff", "int", 4, low=FFS[0], high=FFS[-1])
POSITIONS = Option("tokens", "int", 5, low=TOKENS[0], high=TOKENS[-1])
DEPTH = Option("depth", "int", 12, low=1, high=48)


class Block(Experiment):
    name = "block"
    runs: ClassVar[Sequence[Run]] = ()
    first = ("width", "ff", "tokens", "depth")
    drawn = ("drawings",)
    code = (stack.softmax_attention, stack.feed_forward, wirings.post_ln, wirings.pre_ln)
    _tokens = 0  # of the models that are told of

    def build_controls(self) -> list[Control]:
        say = self.say
        return [
            pick(STAGE, say, key="block.option.stage"),
            slider(WIDTH, say, values=WIDTHS, shown=whole, key="block.option.width"),
            select(FF, say, values=FFS, shown=str, key="block.option.ff"),
            slider(POSITIONS, say, values=TOKENS, shown=whole, key="block.option.tokens"),
            slider(DEPTH, say, key="block.option.depth"),
        ]

    def build_charts(self) -> dict[str, Chart]:
        return {}

    def draw(self) -> None:
        values = self.values
        self.stack = StackConfig(
            depth=values["depth"],
            width=values["width"],
            ff=values["ff"],
            tokens=values["tokens"],
            attention="softmax",
        )
        self.counts = of_stack(self.stack, "pre_ln")
        if self._tokens != values["tokens"]:  # all that the models' counts depend on
            self._tokens = values["tokens"]
            self.models = {model.name: of_model(model, self.stack.tokens) for model in MODELS}
            self.of_models = {stage: self._of_models(stage) for stage in STAGES}
            self._models = {stage: markup.table(self.of_models[stage]) for stage in STAGES}

    @property
    def stage(self) -> str:
        return str(self.values["stage"])

    # ------------------------------------------------------------------ the board

    def extra_parts(self) -> dict[str, str]:
        return {
            "drawings": self._drawings,
            "running": self._for_each_stage(
                {stage: markup.descriptions(self._running(stage)) for stage in STAGES}
            ),
            "models": self._for_each_stage(self._models),
        }

    @cached_property
    def _drawings(self) -> str:
        return "".join(self._drawing(wiring) for wiring in BASE)

    def _for_each_stage(self, html: Mapping[str, str]) -> str:
        """All of them, so that a press shows its own at once, also before Python is there."""
        return "".join(
            f'<div data-when="stage={stage}"{"" if stage == self.stage else " hidden"}>'
            f"{html[stage]}</div>"
            for stage in STAGES
        )

    def _drawing(self, wiring: str) -> str:
        name = markup.text(self.say(f"wiring.{wiring}"))
        return (
            f'<figure data-wiring="{wiring}">'
            f"{diagram(WIRINGS[wiring], self.say, f'block-{wiring}')}"
            f'<figcaption><span class="name">{name}</span></figcaption></figure>'
        )

    def _running(self, stage: str) -> list[tuple[str, str]]:
        """Shape, matrices, parameters and operations of the stage in the running stack."""
        say, count = self.say, self.counts[stage]
        known = {"tokens": whole(self.stack.tokens), "width": whole(self.stack.width)}
        pairs = [("shape", say("block.shape", **known))]
        if count.matrices:
            pairs.append(("matrices", self._matrices(count)))
        pairs += [
            ("parameters", whole(count.parameters) if count.parameters else say("block.none")),
            ("operations", self._operations(count)),
            ("together", self._together(stage)),
        ]
        return [(say(f"block.running.{name}"), text) for name, text in pairs]

    def _matrices(self, count: Count) -> str:
        return self.say("block.and").join(
            f"{_subscript(name)}:\N{NO-BREAK SPACE}{whole(rows)} × {whole(columns)}"
            for name, (rows, columns) in count.matrices.items()
        )

    def _operations(self, count: Count) -> str:
        if count.operations == 0:
            return self.say("block.none")
        all_positions = whole(count.operations * self.stack.tokens)
        return self.say(
            "block.operations",
            each=whole(count.operations),
            n=self.stack.tokens,
            tokens=whole(self.stack.tokens),
            all=all_positions,
        )

    def _together(self, stage: str) -> str:
        """All of the kind that the stack has."""
        count = self.counts[stage]
        return self.say(
            f"block.together.{'parameters' if count.parameters else 'operations'}",
            n=count.times,
            all=whole(count.all_parameters),
            share=self._percent(self._share(stage)),
            operations=whole(count.operations * self.stack.tokens * count.times),
        )

    def _percent(self, share: float) -> str:
        if 0 < share < TINY:
            return self.say("block.less_than", share=self.percent(TINY))
        return self.say("experiment.percent", n=significant(100 * share))

    def _share(self, stage: str) -> float:
        """Of all parameters of the running stack."""
        everything = sum(count.all_parameters for count in self.counts.values())
        return self.counts[stage].all_parameters / everything

    # ------------------------------------------------------------------ words

    def sentences(self) -> list[str]:
        say, stage, count = self.say, self.stage, self.counts[self.stage]
        said = [
            say(
                f"block.sentence.{stage}",
                width=whole(self.stack.width),
                hidden=whole(self.stack.width * self.stack.ff),
                depth=self.stack.depth,
                tokens=whole(self.stack.tokens),
                parameters=whole(count.parameters),
                share=self._percent(self._share(stage)),
                operations=whole(count.operations * self.stack.tokens),
            )
        ]
        if stage in ("attention", "ffn"):
            model = next(model for model in MODELS if model.name == EXAMPLE)
            of_model = self.models[model.name]
            said.append(
                say(
                    "block.in_model",
                    model=model.name,
                    parameters=short(of_model[stage].parameters),
                    share=self._percent(of_model[stage].all_parameters / total(model)),
                )
            )
        if stage == "attention":
            said.append(self._pairs())
        return said

    def _pairs(self) -> str:
        """Of attention's operations, how many do not belong to its matrices."""
        count = self.counts["attention"]
        share = block_counts.pairs(self.stack.tokens, self.stack.width) / count.operations
        return self.say("block.pairs", tokens=whole(self.stack.tokens), share=self._percent(share))

    def tables(self) -> list[Table]:
        return [self._stages(), self._shapes(), *self.of_models.values()]

    def _stages(self) -> Table:
        """All stages of the running stack."""
        say = self.say
        names = ("stage", "parameters", "times", "all", "share", "operations")
        return Table(
            name="running",
            caption=say("block.table.running", depth=self.stack.depth),
            columns=[(name, say(f"block.table.{name}")) for name in names],
            rows=[
                [
                    self._stage(stage),
                    *(whole(n) for n in (count.parameters, count.times, count.all_parameters)),
                    self._percent(self._share(stage)),
                    whole(count.operations * self.stack.tokens),
                ]
                for stage, count in self.counts.items()
            ],
            numbers=[
                [
                    self._stage(stage),
                    *(count.parameters, count.times, count.all_parameters),
                    self._share(stage),
                    count.operations * self.stack.tokens,
                ]
                for stage, count in self.counts.items()
            ],
        )

    def _shapes(self) -> Table:
        """The models' own numbers, and how near the derived total comes to the published one."""
        say = self.say
        names = ("model", "wiring", "d", "d_ff", "heads", "N", "vocabulary", "total", "published")
        return Table(
            name="models",
            caption=say("block.table.shapes"),
            columns=[(name, say(f"block.table.{name}")) for name in (*names, "source")],
            rows=[
                [
                    model.name,
                    say(f"wiring.{model.wiring}"),
                    *self._shape(model),
                    whole(model.vocabulary),
                    short(total(model)),
                    _as_published(model.published),
                    self._source(model),
                ]
                for model in MODELS
            ],
            numbers=[
                [
                    model.name,
                    say(f"wiring.{model.wiring}"),
                    *_sizes(model),
                    model.vocabulary,
                    total(model),
                    model.published,
                    self._source(model),
                ]
                for model in MODELS
            ],
        )

    def _of_models(self, stage: str) -> Table:
        """One stage in every model."""
        say = self.say
        names = ("model", "d", "d_ff", "heads", "N", "parameters", "times", "share", "operations")
        counts = {model: self.models[model.name][stage] for model in MODELS}
        return Table(
            name=f"models_{stage}",
            caption=say(
                "block.table.of_stage",
                stage=self._stage(stage),
                tokens=whole(self.stack.tokens),
            ),
            columns=[(name, say(f"block.table.{name}")) for name in (*names, "source")],
            rows=[
                [
                    model.name,
                    *self._shape(model),
                    *self._cells(count, total(model)),
                    self._source(model),
                ]
                for model, count in counts.items()
            ],
            numbers=[
                [
                    model.name,
                    *_sizes(model),
                    count.parameters,
                    count.times,
                    count.all_parameters / total(model),
                    count.operations * self.stack.tokens,
                    self._source(model),
                ]
                for model, count in counts.items()
            ],
        )

    def _shape(self, model: Model) -> list[str]:
        """As `_sizes`, with both depths where there is a decoder."""
        *sizes, _ = map(whole, _sizes(model))
        return [*sizes, f"{model.layers} + {model.decoder}" if model.decoder else str(model.layers)]

    def _cells(self, count: Count, everything: int) -> list[str]:
        """Parameters, number, share and operations; dashes where a model has no such stage."""
        if count.times == 0:
            return ["–", "0", "–", "–"]
        return [
            short(count.parameters),
            str(count.times),
            self._percent(count.all_parameters / everything),
            short(count.operations * self.stack.tokens),
        ]

    def _stage(self, stage: str) -> str:
        return self.say(f"block.option.stage.choices.{stage}")

    def _source(self, model: Model) -> str:
        comma = self.say("block.listed")
        named = [
            f"[@{comma.join([key, *(self.say(f'block.place.{kind}', n=n) for kind, n in places)])}]"
            for key, places in model.sources
        ]
        return self.say("block.and").join(named)

    def details(self) -> list[tuple[str, str]]:
        say = self.say
        names = ("operations", "left_out", "norms", "models", "gpt2", "gemma")
        return [(say(f"block.details.{n}"), say(f"block.details.{n}_text")) for n in names]


def _subscript(matrix: str) -> str:
    """W_1 → W₁, W_Q as it is."""
    return {"W_1": "W₁", "W_2": "W₂", "W_3": "W₃"}.get(matrix, matrix)


def _sizes(model: Model) -> list[int]:
    """Width, the FFN's, heads, and layers in all."""
    return [model.width, model.hidden, model.heads, model.layers + model.decoder]


def short(number: float) -> str:
    """9,216, then 24.6 k, 124 M, 8.03 G: three digits, with a prefix of the SI."""
    if number < 1e4:
        return whole(int(number))
    scaled, prefix = _prefixed(float(f"{number:.3g}"))  # 999,600 is 1.00 M, not 1,000 k
    return f"{significant(scaled)} {prefix}"


def _as_published(number: float) -> str:
    """65 M, 175 G: no more digits than were published."""
    scaled, prefix = _prefixed(number)
    return f"{scaled:.3g} {prefix}"


def _prefixed(number: float) -> tuple[float, str]:
    prefixes = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
    power, prefix = next(each for each in prefixes if number >= each[0])
    return number / power, prefix
