"""The table of options: texts to values and back, with a notice for everything changed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.probes.options import OPTIONS, narrowed, options_of, validated

many = settings(deadline=None, max_examples=200)


def values_of(option):
    whole = st.integers(int(option.low or 0), int(option.high or 0))
    return {
        "int": whole.map(lambda n: n - (n - int(option.low or 0)) % option.step),
        "float": st.floats(option.low, option.high),
        "choice": st.sampled_from(option.choices or ("",)),
        "choices": st.sets(st.sampled_from(option.choices or ("",)), min_size=1).map(
            lambda chosen: tuple(c for c in option.choices if c in chosen)
        ),
        "ints": st.sets(whole, min_size=1, max_size=8).map(lambda n: tuple(sorted(n))),
    }[option.kind]


options = st.sampled_from(list(OPTIONS.values()))


def test_the_names_are_the_published_ones():
    assert list(OPTIONS) == [
        "wiring",
        "depth",
        "depths",
        "width",
        "ff",
        "attention",
        "tokens",
        "seed",
        "seeds",
        "scale",
        "change",
        "stack",
        "memory",
        "loss",
        "matrix",
        "start",
        "quantity",
        "rate",
        "warmup",
        "steps",
        "batch",
        "optimizer",
        "schedule",
        "text",
    ]


def test_defaults_are_at_least_24_seeds_and_a_width_without_wild_means():
    assert OPTIONS["seeds"].default >= 24
    assert OPTIONS["width"].default >= 128


@many
@given(st.data())
def test_every_value_survives_the_way_to_text_and_back(data):
    option = data.draw(options)
    value = data.draw(values_of(option))
    assert option.parse(option.format(value)) == (value, None)


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_the_default_is_allowed(option):
    assert option.parse(option.format(option.default)) == (option.default, None)


@many
@given(options, st.text(max_size=30))
def test_any_text_gives_an_allowed_value_and_a_notice_unless_it_was_one(option, text):
    value, notice = option.parse(text)
    assert option.parse(option.format(value)) == (value, None)
    if notice is not None:
        assert notice.name == option.name
        assert notice.used == option.format(value)


@pytest.mark.parametrize(
    ("name", "text", "value", "kind"),
    [
        ("depth", "99", 48, "clamped"),
        ("depth", "-3", 1, "clamped"),
        ("depth", "12.4", 12, "rounded"),
        ("depth", "1e400", 48, "clamped"),
        ("depth", "9" * 5000, 48, "clamped"),
        ("depth", "nan", 12, "unreadable"),
        ("depth", "deep", 12, "unreadable"),
        ("depth", "", 12, "unreadable"),
        ("depth", " 7 ", 7, None),
        ("width", "100", 96, "rounded"),
        ("change", "0.7", 0.5, "clamped"),
        ("change", "1e-3", 0.001, None),
        ("attention", "linear", "uniform", "unreadable"),
        ("wiring", "pre_ln,post_ln", ("post_ln", "pre_ln"), None),
        ("wiring", "pre_ln,magic_ln", ("pre_ln",), "unreadable"),
        ("wiring", "magic_ln", ("post_ln", "pre_ln"), "unreadable"),
        ("depths", "24,6,12,6", (6, 12, 24), None),
        ("depths", "1-4,8", (1, 2, 3, 4, 8), None),
        ("depths", "6,200", (6, 48), "clamped"),
        ("depths", "6,x", (6,), "unreadable"),
        ("depths", "-", OPTIONS["depths"].default, "unreadable"),
        ("seed", "4294967296", 2**32 - 1, "clamped"),
    ],
)
def test_what_becomes_of_odd_texts(name, text, value, kind):
    parsed, notice = OPTIONS[name].parse(text)
    assert parsed == value
    assert (notice.kind if notice else None) == kind


def test_a_notice_quotes_no_more_than_a_line():
    _, notice = OPTIONS["depth"].parse("9" * 5000)
    assert len(notice.given) <= 40


# ---------------------------------------------------------------- validated


def test_a_probe_s_own_bounds_and_default_stand_in_for_the_table_s():
    own = narrowed(("depth", "seed"), depth={"default": 6, "high": 24})
    assert validated({"seed": 3}, own) == {"depth": 6, "seed": 3}
    with pytest.raises(ValueError, match="depth must be a whole number from 1 to 24; it was '25'"):
        validated({"depth": 25}, own)
    assert OPTIONS["depth"].high == 48
    assert options_of(own) == own
    assert options_of(("seed",)) == {"seed": OPTIONS["seed"]}


def test_defaults_are_filled_in_and_other_options_left_out():
    config = validated({"depth": 6, "change": 0.02}, ("depth", "seed"))
    assert config == {"depth": 6, "seed": 0}
    assert set(validated({})) == set(OPTIONS)


@pytest.mark.parametrize("given", [(6, 12), [6, 12], "6,12"])
def test_values_may_be_typed_or_texts(given):
    assert validated({"depths": given}, ("depths",)) == {"depths": (6, 12)}


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"depth": 49}, r"depth must be a whole number from 1 to 48; it was '49'\."),
        ({"depth": "x"}, r"depth must be a whole number from 1 to 48; it was 'x'\."),
        ({"depth": None}, r"depth must be"),
        ({"depths": 99}, r"depths must be .* from 1 to 48; it was '99'\."),
        ({"change": 1.0}, r"change must be a number from 0\.0001 to 0\.5; it was '1\.0'\."),
        ({"width": 100}, r"width must be a multiple of 16 from 16 to 768; it was '100'\."),
        ({"attention": "linear"}, r"attention must be one of uniform, softmax; it was 'linear'\."),
        ({"wiring": "magic"}, r"wiring must be one or more of post_ln, pre_ln, "),
        ({"wiring": "deepnorm"}, r"wiring deepnorm needs attention softmax; it was 'uniform'\."),
        ({"deep": 3}, r"There is no option deep; there are wiring, depth, "),
    ],
)
def test_a_refusal_is_one_sentence_that_names_what_is_allowed(config, sentence):
    with pytest.raises(ValueError, match=sentence) as refusal:
        validated(config)
    assert "\n" not in str(refusal.value)


def test_more_tokens_than_a_time_slice_allows_are_refused_with_what_fits():
    assert validated({"width": 768, "ff": 4, "tokens": 7})["tokens"] == 7
    with pytest.raises(ValueError, match=r"tokens must be 1 … 7 where width is 768 and ff 4"):
        validated({"width": 768, "ff": 4, "tokens": 8})
    assert validated({"width": 512, "tokens": 32})["tokens"] == 32


@pytest.mark.parametrize("matrix", ["W_Q", "W_K", "cross_W_Q", "cross_W_K"])
def test_a_gradient_that_is_nothing_is_not_asked_for(matrix):
    """Softmax over one position is 1, whatever queries and keys are."""
    config = {"matrix": matrix, "attention": "softmax", "stack": "decoder"}
    with pytest.raises(ValueError, match=f"tokens must be 2 or more where matrix is {matrix}"):
        validated({**config, "tokens": 1})
    validated({**config, "tokens": 2})
    validated({**config, "tokens": 1, "matrix": matrix[:-1] + "V"})
