"""The probes from a terminal: formats, help, refusals, Ctrl-C."""

import csv
import io
import json
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from app import terminal
from app.probes import NUMBERS_VERSION, beta, sensitivity
from app.probes.options import OPTIONS, options_of

ROOT = Path(__file__).resolve().parents[1]
SMALL = ["--width", "32", "--seeds", "3"]


def run(capsys, *arguments):
    """Exit code, standard output, standard error."""
    try:
        code = terminal.main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = end.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def last(answers):
    return [answer for answer in answers if answer is not None][-1]


# ---------------------------------------------------------------- formats


def test_json_is_the_probe_s_result_with_every_digit(capsys):
    code, out, err = run(
        capsys, "probe", "sensitivity", "--wiring", "post_ln", "--depths", "1,2,3", *SMALL, "--json"
    )
    config = {"wiring": "post_ln", "depths": (1, 2, 3), "width": 32, "seeds": 3}
    expected = asdict(last(sensitivity.measure(config)))
    answer = json.loads(out)
    assert (code, err) == (0, "")
    assert list(answer) == ["probe", "version", "config", "columns", "summary"]
    assert answer["probe"] == "sensitivity"
    assert answer["version"] == NUMBERS_VERSION == "1"
    assert answer["config"] == json.loads(json.dumps(expected["config"]))
    assert answer["columns"] == expected["columns"]
    assert answer["summary"] == expected["summary"]


def test_json_says_null_where_one_seed_has_no_error(capsys):
    _, out, _ = run(capsys, "probe", "beta", "--width", 32, "--seeds", 1, "--depth", 1, "--json")
    assert json.loads(out)["columns"]["post_ln_se"] == [None, None]


def test_csv_has_the_columns_of_the_result(capsys):
    code, out, _ = run(capsys, "probe", "beta", "--depth", 2, *SMALL, "--csv")
    expected = last(beta.measure({"depth": 2, "width": 32, "seeds": 3})).columns
    header, *rows = csv.reader(io.StringIO(out))
    assert code == 0
    assert header == list(expected)
    assert [float(row[header.index("pre_ln")]) for row in rows] == expected["pre_ln"]


def test_without_a_format_a_table_for_eyes_and_the_summary(capsys):
    code, out, _ = run(capsys, "probe", "estimate", "--depths", "1,2,3", *SMALL)
    assert code == 0
    blocks = out.split("\n\n")
    assert [block.split()[:2] for block in blocks[:3]] == [
        ["depth", "post_ln"],
        ["depth", "pre_ln"],
        ["depth", "ratio"],
    ]
    assert all(len({len(line) for line in block.splitlines()}) == 1 for block in blocks[:3])
    assert "fits pre_ln log slope" in blocks[3]


STACKS = ("attenuation", "beta", "depth", "estimate", "gradients", "jacobian", "last_layer",
          "norms", "sensitivity", "wirings")  # fmt: skip
OTHERS = ("contrast", "singular_values", "training")


@pytest.mark.parametrize("name", [*STACKS, *OTHERS])
def test_help_names_every_option_with_what_is_allowed(capsys, name):
    code, out, _ = run(capsys, "probe", name, "--help")
    text = " ".join(out.split())
    assert code == 0
    for option in options_of(terminal.probes()[name].takes).values():
        default = option.format(option.default)
        said = f"{terminal.WORDS[option.name]}: {option.allowed} (default: {default})"
        assert f"--{option.name} {option.kind.upper()} {said}" in text


def test_help_can_be_shown_everywhere_and_explains_nothing_that_is_not_there():
    assert all(words.isascii() for words in terminal.WORDS.values())
    taken = {name for probe in terminal.probes().values() for name in options_of(probe.takes)}
    assert set(terminal.WORDS) == taken == set(OPTIONS)


def test_every_probe_of_stacks_is_there():
    assert set(STACKS) == set(terminal.probes()) - set(OTHERS)


@pytest.mark.parametrize("name", STACKS)
def test_every_probe_prints_a_table_and_the_same_as_csv_and_json(capsys, name):
    takes = options_of(terminal.probes()[name].takes)
    small = {"depth": 3, "depths": "1,2,3", "width": 16, "seeds": 2, "tokens": 3}
    arguments = [x for o, value in small.items() if o in takes for x in (f"--{o}", value)]
    code, table, err = run(capsys, "probe", name, *arguments)
    assert (code, err) == (0, "")
    answer = json.loads(run(capsys, "probe", name, *arguments, "--json")[1])
    header, *rows = csv.reader(io.StringIO(run(capsys, "probe", name, *arguments, "--csv")[1]))
    assert header == list(answer["columns"])
    assert len(rows) == len(answer["columns"][header[0]])
    assert answer["probe"] == name
    assert set(answer["config"]) == set(takes)
    assert all(column in table for column in header)
    assert answer["summary"]["seeds"] == 2


def test_singular_values_have_a_row_each(capsys):
    code, out, _ = run(capsys, "probe", "singular_values", "--width", 16, "--scale", 2, "--json")
    answer = json.loads(out)
    assert code == 0
    assert len(answer["columns"]["singular"]) == 16
    assert answer["config"] == {"width": 16, "seed": 0, "scale": 2.0}


def test_a_table_keeps_apart_wirings_whose_names_begin_alike(capsys):
    wirings = ["--wiring", "admin,admin_constant"]
    _, out, _ = run(capsys, "probe", "estimate", *wirings, "--depths", "1,2", *SMALL)
    first, second, *_ = out.split("\n\n")
    assert first.split()[:2] == ["depth", "admin"]
    assert second.split()[:2] == ["depth", "admin_constant"]
    assert "constant" not in first


def test_training_has_a_row_per_step(capsys):
    small = ["--depth", 1, "--width", 16, "--steps", 3, "--rate", "1e-2", "--warmup", 0]
    code, out, _ = run(capsys, "probe", "training", "--wiring", "post_ln", *small, "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["columns"]["step"] == [1, 2, 3]
    assert answer["config"]["rate"] == 0.01
    assert set(answer["summary"]) == {"symbols", "unigram", "post_ln"}


ONE_MORE = """
import sys
from app.nn import wirings

def halved(x, branch, norm, share):
    return x + branch(norm(x)) * share

row = wirings.Wiring("halved", halved, final_norm=True, depends_on_depth=True, source="here, 2026",
                     numbers=lambda place, draw: {"share": 1 / place.depth})
wirings.WIRINGS[row.name] = row

from app.terminal import main, probes
from app.probes.options import options_of

small = {"depth": "3", "depths": "1,3", "width": "16", "seeds": "2", "tokens": "3", "steps": "2"}
for name, probe in probes().items():
    takes = options_of(probe.takes)
    if "wiring" in takes:
        given = [x for o, value in small.items() if o in takes for x in (f"--{o}", value)]
        print(name, file=sys.stderr)
        assert main(["probe", name, "--wiring", "halved,pre_ln", *given, "--csv"]) == 0
"""


def test_one_more_wiring_takes_one_function_and_one_row_for_every_probe_to_have_it():
    done = subprocess.run(
        [sys.executable, "-c", ONE_MORE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    names = done.stderr.split()
    assert set(names) == {*STACKS, "training"} - {"jacobian"}
    headers = [line.split(",") for line in done.stdout.splitlines() if not line[0].isdigit()]
    assert len(headers) == len(names)
    for header, name in zip(headers, names, strict=True):
        assert {"halved", "pre_ln"} <= set(header), name


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sensitivity", "--depths", "99"], "from 1 to 48; it was '99'."),
        (["beta", "--depth", "-3"], "from 1 to 48; it was '-3'."),
        (["beta", "--width", "100"], "a multiple of 16 from 16 to 768; it was '100'."),
        (["beta", "--attention", "linear"], "one of uniform, softmax; it was 'linear'."),
        (["beta", "--wiring", "magic"], "one or more of post_ln, pre_ln, "),
        (["beta", "--change", "0.1"], "unrecognized arguments: --change"),  # beta takes none
        (["training", "--width", "128"], "a multiple of 16 from 16 to 64; it was '128'."),
        (["magic"], "'magic'"),
        (["beta", "--json", "--csv"], "not allowed with"),
        ([], "NAME"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(capsys, arguments, sentence):
    code, out, err = run(capsys, "probe", *arguments)
    assert code == 2
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1


# ---------------------------------------------------------------- Ctrl-C


def interrupted(after):
    """The real measurement, with a real SIGINT once `after` partial Results have come."""

    def measure(config):
        results = 0
        for answer in sensitivity.measure(config):
            if results == after:
                signal.raise_signal(signal.SIGINT)
            results += answer is not None
            yield answer

    return terminal.Probe(measure, sensitivity.MEASURE_TAKES, "")


def test_ctrl_c_prints_what_is_done_so_far(capsys, monkeypatch):
    monkeypatch.setattr(
        "app.probes.draws.RUN", 2 * 3 * 32 * 32
    )  # two seeds at a time, after the first
    monkeypatch.setattr(terminal, "probes", lambda: {"sensitivity": interrupted(after=2)})
    arguments = ["--width", "32", "--depths", "1,2,3", "--json"]
    code, out, err = run(capsys, "probe", "sensitivity", "--seeds", "6", *arguments)
    assert code == 130
    assert err == "Stopped after 3 of 6 seeds were done.\n"
    assert json.loads(out)["summary"]["seeds"] == 3
    monkeypatch.undo()
    _, complete, _ = run(capsys, "probe", "sensitivity", "--seeds", "3", *arguments)
    assert json.loads(out)["columns"] == json.loads(complete)["columns"]


def test_ctrl_c_ends_a_training_run_after_the_steps_that_are_shown(capsys, monkeypatch):
    probe = terminal.probes()["training"]

    def measure(config):
        for answer in probe.measure(config):
            yield answer
            if answer is not None:
                signal.raise_signal(signal.SIGINT)

    interrupted = terminal.Probe(measure, probe.takes, probe.words, probe.unit)
    monkeypatch.setattr(terminal, "probes", lambda: {"training": interrupted})
    small = ["--wiring", "pre_ln", "--depth", 1, "--width", 16, "--steps", 12, "--json"]
    code, out, err = run(capsys, "probe", "training", *small)
    assert code == 130
    assert err == "Stopped after 5 of 12 steps were done.\n"
    assert json.loads(out)["columns"]["step"] == [1, 2, 3, 4, 5]


def test_the_beginning_of_a_seed_is_no_result(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "probes", lambda: {"sensitivity": interrupted(after=1)})
    deep = ["--depths", "1,2,12"]  # deep enough to have a beginning
    code, out, err = run(capsys, "probe", "sensitivity", *SMALL, *deep)
    assert (code, out, err) == (130, "", "Stopped before any seed was done.\n")


def test_ctrl_c_before_the_first_seeds_says_so(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "probes", lambda: {"sensitivity": interrupted(after=0)})
    code, out, err = run(capsys, "probe", "sensitivity", *SMALL)
    assert (code, out, err) == (130, "", "Stopped before any seed was done.\n")
