"""The command line of the probes: what it takes, refuses and prints."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from app.probes import (
    NUMBERS_VERSION,
    attenuation,
    beta,
    depth,
    gradients,
    jacobian,
    norms,
    sensitivity,
    training,
    wirings,
)
from app.probes.options import Option, options_of, validated
from app.probes.result import Result, csv_of


def main(arguments: list[str]) -> int:
    """Run one command; returns the exit code: 0, 2 for a refused value, 130 when stopped."""
    chosen = vars(command_line().parse_args(arguments))
    probe = probes()[chosen["name"]]
    given = {name: chosen[name] for name in probe.takes if chosen[name] is not None}
    try:
        config = validated(given, probe.takes)
    except ValueError as refusal:
        print(refusal, file=sys.stderr)
        return 2
    result, stopped = last_result(probe.measure(config), probe.unit)
    if result is not None:
        {"json": print_json, "csv": print_csv, "table": print_table}[chosen["format"]](result)
    if stopped:
        unit = probe.unit
        done = f"{result.done} of {result.total} {unit}s were" if result else f"any {unit} was"
        print(f"Stopped {'after' if result else 'before'} {done} done.", file=sys.stderr)
    return 130 if stopped else 0


@dataclass(frozen=True)
class Probe:
    """A probe as the terminal sees it: its generator, the options it takes (their names, or the
    table's rows narrowed), one line of words, and what `done` of `total` counts."""

    measure: Callable[[Any], Iterator[Any]]
    takes: tuple[str, ...] | Mapping[str, Option]
    words: str
    unit: str = "seed"


def probes() -> dict[str, Probe]:
    return {
        "attenuation": Probe(
            attenuation.measure,
            attenuation.TAKES,
            "what becomes of the gradient on its way back through the layers",
        ),
        "beta": Probe(
            beta.measure, beta.TAKES, "the share of each sublayer's branch in the residual stream"
        ),
        "contrast": Probe(
            training.contrast,
            training.CONTRAST_TAKES,
            "Post-LN in training without warm-up and with it, and Pre-LN without, side by side",
            unit="step",
        ),
        "depth": Probe(
            depth.measure,
            depth.TAKES,
            "how alike neighbouring layers are, and what merging or dropping them does",
        ),
        "estimate": Probe(
            sensitivity.estimate, sensitivity.ESTIMATE_TAKES, "sensitivity estimated from beta"
        ),
        "gradients": Probe(
            gradients.measure, gradients.TAKES, "the gradient of a matrix in every layer"
        ),
        "jacobian": Probe(
            jacobian.measure, jacobian.TAKES, "LayerNorm's Jacobian against the size of its input"
        ),
        "last_layer": Probe(
            gradients.measure_last,
            gradients.LAST_TAKES,
            "the gradient of a matrix in the last layer, against the number of layers",
        ),
        "norms": Probe(norms.measure, norms.TAKES, "the size of the signal in every layer"),
        "sensitivity": Probe(
            sensitivity.measure,
            sensitivity.MEASURE_TAKES,
            "how far the output moves when every weight changes a little",
        ),
        "singular_values": Probe(
            jacobian.singular_values,
            jacobian.SINGULAR_TAKES,
            "all singular values of LayerNorm's Jacobian at one input",
        ),
        "training": Probe(
            training.measure,
            training.TAKES,
            "a small language model in training: what learns, what is stuck, and why",
            unit="step",
        ),
        "wirings": Probe(
            wirings.measure,
            wirings.TAKES,
            "sensitivity and gradients of any wirings side by side",
        ),
    }


# What an option is, for --help: in ASCII, which every terminal can show.
WORDS = {
    "wiring": "where the norm goes",
    "depth": "N, the number of layers",
    "depths": "numbers of layers N, a row each",
    "width": "d, the entries per position",
    "ff": "the FFN's inner width d_ff, in units of d",
    "attention": "a mean over all positions, or heads of 16 with queries and keys",
    "tokens": "T, the number of positions",
    "seed": "another one draws other inputs, weights and noise",
    "seeds": "how many draws are measured",
    "scale": "what LayerNorm's input is multiplied by",
    "change": "delta: noise of delta times its matrix's standard deviation for every weight",
    "stack": "without a mask, causal, or a decoder that also attends to a memory",
    "memory": "what a decoder attends to: an encoder wired alike, or independent positions",
    "loss": "cross-entropy over 64 random classes, or a random linear function",
    "matrix": "whose gradient",
    "start": "sigma of the noise on the weights between streams (hyper_connections, mhc)",
    "quantity": "how far or how alike neighbouring layers are, or what the output loses when two "
    "are merged or one is dropped",
    "rate": "the learning rate that stays after warm-up",
    "warmup": "steps over which the rate rises",
    "steps": "how many to train",
    "batch": "windows of text in a step",
    "optimizer": "Adam, or SGD without momentum",
    "schedule": "a constant rate after warm-up, or Vaswani et al.'s, which needs no rate",
    "text": "the language of the text",
}


def command_line() -> argparse.ArgumentParser:
    """The parser, drawn from the table of options."""
    parser = Parser(prog="python -m app", description="NormLab's probes in a terminal.")
    commands = parser.add_subparsers(required=True, metavar="probe")
    probe_parser = commands.add_parser("probe", help="measure something and print the numbers")
    names = probe_parser.add_subparsers(required=True, dest="name", metavar="NAME")
    for probe_name, probe in probes().items():
        one = names.add_parser(probe_name, help=probe.words, description=f"Measures {probe.words}.")
        for option in options_of(probe.takes).values():
            default = option.format(option.default)
            one.add_argument(
                f"--{option.name}",
                metavar=option.kind.upper(),
                help=f"{WORDS[option.name]}: {option.allowed} (default: {default})",
            )
        form = one.add_mutually_exclusive_group()
        for name in ("json", "csv"):
            form.add_argument(
                f"--{name}",
                dest="format",
                action="store_const",
                const=name,
                default="table",
                help=f"print {name.upper()}, every digit, instead of a table",
            )
    return parser


class Parser(argparse.ArgumentParser):
    """Answers a bad command line with one sentence."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_abbrev=False, **kwargs)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; --help says more.\n")


def last_result(answers: Iterator[Result | None], unit: str) -> tuple[Result | None, bool]:
    """The last Result, and whether Ctrl-C came before all was done."""
    result = None
    try:
        for answer in answers:
            if answer is not None and answer.whole:
                result = answer
                show_progress(result, unit)
    except KeyboardInterrupt:
        return result, True
    return result, False


def show_progress(result: Result, unit: str) -> None:
    if sys.stderr.isatty():
        end = "\n" if result.done == result.total else ""
        print(f"\r{result.done} of {result.total} {unit}s", end=end, file=sys.stderr, flush=True)


def print_json(result: Result) -> None:
    answer = {
        "probe": result.probe,
        "version": NUMBERS_VERSION,
        "config": result.config,
        "columns": result.columns,
        "summary": result.summary,
    }
    print(json.dumps(without_nan(answer), indent=1, allow_nan=False))


def print_csv(result: Result) -> None:
    sys.stdout.write(csv_of(result))


INDEX = ("depth", "layer", "sublayer", "kind", "scale", "step", "rate")  # what a row is of


def print_table(result: Result) -> None:
    """A block per wiring, or per run, one for what is common to all, then the summary."""
    index = [c for c in result.columns if c in INDEX]
    runs = [name for name, about in result.summary.items() if isinstance(about, dict)]
    blocks: dict[str, list[str]] = {name: [] for name in result.config.get("wiring", runs)}
    for column in result.columns:
        if column not in index:
            owners = [w for w in blocks if f"{column}_".startswith(f"{w}_")]
            owner = max(owners, key=len, default="")  # admin_constant's are not admin's
            blocks.setdefault(owner, []).append(column)
    for columns in blocks.values():
        print_block({c: result.columns[c] for c in (*index, *columns)})
    print_summary("", result.summary)


def print_block(columns: dict[str, list[Any]]) -> None:
    texts = [[name, *map(short, values)] for name, values in columns.items()]
    widths = [max(map(len, column)) for column in texts]
    for row in zip(*texts, strict=True):
        print("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))
    print()


def print_summary(path: str, values: dict[str, Any]) -> None:
    plain = [f"{k} {short(v)}" for k, v in values.items() if not isinstance(v, dict)]
    if plain:
        print(f"{path}{', '.join(plain)}")
    for key, inner in values.items():
        if isinstance(inner, dict):
            print_summary(f"{path}{key} ", inner)


def short(value: Any) -> str:
    """Four digits of a float, everything else as it is."""
    if value is None or without_nan(value) is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def without_nan(value: Any) -> Any:
    """JSON knows no NaN: None in its place, at any depth."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value
