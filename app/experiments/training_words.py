"""What the training experiment says: sentences, tables, details."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from app.experiments import recorded
from app.experiments.training_answers import QUANTITIES, RUNS, Answers, Shown
from app.nn.ops import HEAD_WIDTH
from app.nn.training import ADAM_BETAS, COLLAPSED, CUT_OFF, LEARNED
from app.probes import NUMBERS_VERSION, sentences
from app.probes.training import CONTRAST
from app.ui.markup import Table
from app.ui.numbers import significant
from app.ui.strings import Strings

# How the verdicts of the three runs, in order, are summed up.
_MORALS = {
    ("stuck", "learns", "learns"): "rescued",
    ("stuck", "stuck", "learns"): "too_little",
    ("learns", "learns", "learns"): "all_learn",
    ("stuck", "stuck", "stuck"): "all_stuck",
}


# ---------------------------------------------------------------- sentences


def reading(say: Strings, answers: Answers) -> Iterator[str]:
    """What became of each run, and what that shows."""
    now = answers.now
    if now is None:
        yield say("training.untrained", steps=answers.steps)
        return
    yield say(
        f"training.{_state(now, answers)}",
        done=now.result.done,
        steps=answers.steps,
        looked=f"{now.looks(RUNS[0])[0][-1]:g}",
        **{run: _clause(say, now, run, answers) for run in RUNS},
    )
    verdicts = tuple(now.verdict(run) for run in RUNS)
    if now.done and verdicts in _MORALS:
        yield say(f"training.moral.{_MORALS[verdicts]}")
    yield say("training.yardstick", unigram=significant(now.unigram))
    if now.done:
        yield from _collapse(say, now, answers)
        yield from _where_the_contrast_is(say, now)
        yield say("training.one_seed")
        yield from _against_recorded(say, now)
    if now.source == "recorded":
        yield say("training.press")


def compared(say: Strings, answers: Answers) -> Iterator[str]:
    """What the faint curves are."""
    if answers.before is not None:
        source, config = answers.before.source, answers.before.result.config
        yield say(f"training.compared.{source}", settings=settings(say, config))


def settings(say: Strings, config: Mapping[str, Any]) -> str:
    """A run's settings in a few words."""
    return say(
        "training.settings",
        rate=f"{config['rate']:g}",
        warmup=config["warmup"],
        optimizer=say(f"training.option.optimizer.choices.{config['optimizer']}"),
        depth=config["depth"],
        text=say(f"training.option.text.choices.{config['text']}"),
        steps=config["steps"],
        seed=config["seed"],
    )


def _state(now: Shown, answers: Answers) -> str:
    if now.source == "recorded" or now.done:
        return now.source
    return "running" if answers.running else "stopped"


def _clause(say: Strings, now: Shown, run: str, answers: Answers) -> str:
    return say(
        f"training.clause.{now.verdict(run)}",
        run=say(f"training.run.{run}", warmup=answers.warmup),
        loss=significant(now.loss(run)),
    )


def _collapse(say: Strings, now: Shown, answers: Answers) -> Iterator[str]:
    """What stuck means, by the first run that is."""
    stuck = next((run for run in RUNS if now.verdict(run) == "stuck"), None)
    if stuck is None:
        return
    yield say(
        "training.collapsed",
        run=say(f"training.run.{stuck}", warmup=answers.warmup),
        cosine=f"{now.last(stuck, 'cosine'):.4f}",
        lower=significant(now.last(stuck, "lower"), 2),
    )


def _where_the_contrast_is(say: Strings, now: Shown) -> Iterator[str]:
    """Each text sticks at a rate of its own: say at which, where only text and rate matter. Of
    another depth or optimizer it is not known."""
    config = now.result.config
    rate, known = CONTRAST[config["text"]], recorded.contrast(config["text"]).result.config
    alike = all(config[name] == known[name] for name in ("depth", "optimizer"))
    if alike and now.verdict("post_ln") == "learns" and config["rate"] < rate:
        yield say("training.higher_rate", rate=f"{rate:g}")


def _against_recorded(say: Strings, now: Shown) -> Iterator[str]:
    known = recorded.contrast(now.result.config["text"]).result
    if now.source == "recorded" or known.config != now.result.config:
        return
    differ = [run for run in RUNS if known.summary[run]["verdict"] != now.verdict(run)]
    yield say("training.differs" if differ else "training.agrees")


# ---------------------------------------------------------------- tables


def verdicts_table(say: Strings, now: Shown) -> Table:
    warmup = now.result.config["warmup"]
    columns = ("run", "verdict", "start", "validation", "cosine", "lower", "parameters")
    rows = [
        [
            say(f"training.run.{run}", warmup=warmup),
            say(f"training.verdict.{now.verdict(run)}"),
            significant(now.result.summary[run]["start"]),
            significant(now.loss(run)),
            f"{now.last(run, 'cosine'):.6f}",
            significant(now.last(run, "lower"), 2),
            str(now.result.summary[run]["parameters"]),
        ]
        for run in RUNS
    ]
    return Table(
        name="verdicts",
        caption=say("training.table.verdicts", done=now.result.done),
        columns=[(name, say(f"training.table.{name}")) for name in columns],
        rows=rows,
    )


def steps_table(say: Strings, now: Shown) -> Table:
    """The steps after which the validation split was looked at, under the CSV's names."""
    shown = ("validation", "", *QUANTITIES)
    columns = [f"{run}_{name}" if name else run for run in RUNS for name in shown]
    heads = [say(f"training.table.{name or 'loss'}") for _ in RUNS for name in shown]
    rows = [
        [str(now.steps[row]), *(_digits(c, now.result.columns[c][row]) for c in columns)]
        for row in now.rows
    ]
    warmup = now.result.config["warmup"]
    return Table(
        name=now.source,
        caption=say("training.table.steps"),
        columns=[("step", say("training.table.step")), *zip(columns, heads, strict=True)],
        rows=rows,
        groups=[
            ("", 1),
            *((say(f"training.run.{run}", warmup=warmup), len(shown)) for run in RUNS),
        ],
    )


def _digits(column: str, number: float) -> str:
    if column.endswith("_cosine") and isfinite(number):
        return f"{number:.6f}"  # what counts is the distance to 1
    return significant(number, 4)


# ---------------------------------------------------------------- details


def about(say: Strings, answers: Answers, config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What ran, or would."""
    text = config["text"]
    validation = sentences.VALIDATION
    pairs = [
        (
            "model",
            say("training.details.model_text", **config, heads=config["width"] // HEAD_WIDTH),
        ),
        (
            "text",
            say(
                "training.details.text_text",
                language=say(f"training.option.text.choices.{text}"),
                training=sentences.CHARACTERS[text] - validation,
                validation=validation,
            ),
        ),
        (
            "optimizer",
            say(
                f"training.details.{config['optimizer']}_text",
                first=ADAM_BETAS[0],
                second=ADAM_BETAS[1],
            ),
        ),
        (
            "verdict",
            say(
                "training.details.verdict_text",
                cosine=COLLAPSED,
                lower=significant(CUT_OFF, 1),
                learned=LEARNED,
            ),
        ),
        ("seed", say("training.details.seed_text", seed=config["seed"])),
        ("recorded", provenance(say, recorded.contrast(text), "--contrast")),
    ]
    return [
        *((say(f"training.details.{key}"), words) for key, words in pairs),
        (say("experiment.details.version"), NUMBERS_VERSION),
    ]


def provenance(say: Strings, of: recorded.Contrast | recorded.Grid, option: str = "") -> str:
    """When and on what something was recorded, and how to record it again."""
    return say(
        "training.details.recorded_text",
        date=of.date,
        numpy=of.versions["numpy"],
        python=of.versions["python"],
        machine=of.versions["machine"],
        command=f"python -m lessons.recorded.record {option}".strip(),
    )
