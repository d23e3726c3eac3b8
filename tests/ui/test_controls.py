"""Controls hold an option's values, render one plain model, and ask nothing of other hosts."""

import json

import bokeh.util.serialization as ids
import panel as pn
import pytest
from bokeh.document import Document
from hypothesis import given, settings
from hypothesis import strategies as st

from app.probes.options import OPTIONS, Option
from app.ui import controls
from app.ui.strings import LANGUAGES, strings

CHANGES = [0.001, 0.003, 0.01, 0.03, 0.1]
s = strings("en")


def make(language: str = "en") -> dict[str, controls.Control]:
    say = strings(language)
    return {
        "depth": controls.slider(OPTIONS["depth"], say),
        "change": controls.slider(
            OPTIONS["change"], say, values=CHANGES, shown=lambda value: f"{value:.1%}"
        ),
        "width": controls.select(OPTIONS["width"], say, values=[32, 64, 128], shown=str),
        "attention": controls.switch(OPTIONS["attention"], say),
        "seed": controls.number(OPTIONS["seed"], say),
        "perturb": controls.button("perturb", say, primary=True),
    }


NAMES = list(make())
OPTION_NAMES = [name for name, control in make().items() if control.option]


@pytest.fixture
def document():
    return Document()


@pytest.mark.parametrize("name", NAMES)
def test_a_control_is_one_plain_bokeh_model(name):
    model = make()[name].model
    assert model.references() == {model}
    # Panel's own models would need Panel's JS on the page.
    assert type(model).__module__.startswith("bokeh.models.")


@pytest.mark.parametrize("mode", ["server", "cdn"])  # natively; under Pyodide
@pytest.mark.parametrize("name", NAMES)
def test_a_control_names_no_address_not_even_after_changes(name, mode, document, monkeypatch):
    monkeypatch.setattr("panel.io.resources.RESOURCE_MODE", mode)
    control = make()[name]
    document.add_root(control.model)
    control.disabled = True
    control.widget.param.trigger("stylesheets", "css_classes", "sizing_mode")
    control.widget.design = pn.theme.Native
    control.widget.param.trigger("design", "loading")
    control.widget._design.apply(control.widget, control.model)
    written = json.dumps(document.to_json(deferred=False))
    for sign in ("http:", "https:", "//cdn", ".css", "ImportedStyleSheet"):
        assert sign not in written
    assert len(control.model.stylesheets) == 1


def test_ids_do_not_depend_on_what_was_built_before():
    def built():
        ids._simple_id = 1000
        return [control.model.id for control in make().values()]

    first = built()
    Document()
    assert built() == first
    assert len(set(first)) == len(first)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_control_has_a_label_and_help_in_every_language(language):
    for control in make(language).values():
        assert control.label
        assert control.help


@pytest.mark.parametrize("name", OPTION_NAMES)
def test_a_control_begins_with_the_default(name):
    control = make()[name]
    assert control.value == OPTIONS[name].default
    assert control.text == OPTIONS[name].format(OPTIONS[name].default)


@settings(deadline=None, max_examples=40)  # a busy machine makes widgets slowly
@given(depth=st.integers(1, 48), change=st.sampled_from(CHANGES), seed=st.integers(0, 2**32 - 1))
def test_what_is_set_is_what_is_held_and_its_text_reads_back(depth, change, seed):
    held = make()
    for name, value in {"depth": depth, "change": change, "seed": seed}.items():
        assert held[name].set(value) == value
        assert held[name].value == value
        assert OPTIONS[name].parse(held[name].text) == (value, None)


@settings(deadline=None, max_examples=40)
@given(depth=st.integers(-1000, 1000), change=st.floats(0, 1))
def test_what_a_control_cannot_show_becomes_the_nearest_it_can(depth, change):
    held = make()
    assert held["depth"].set(depth) == min(max(depth, 1), 48)
    shown = held["change"].set(change)
    assert shown in CHANGES
    assert all(abs(shown - change) <= abs(other - change) for other in CHANGES)
    assert held["change"].value == shown


def test_an_unknown_choice_changes_nothing():
    control = make()["attention"]
    assert control.set("hard") == "uniform"
    assert control.value == "uniform"


@pytest.mark.parametrize(
    ("name", "value"), [("depth", 24), ("change", 0.03), ("width", 32), ("attention", "softmax")]
)
def test_a_change_is_told_once_with_the_options_own_value(name, value):
    control = make()[name]
    told = []
    control.on_change(told.append)
    control.set(value)
    control.set(value)
    assert told == [value]


@pytest.mark.parametrize("name", OPTION_NAMES)
def test_the_page_reads_the_same_value_from_the_model_as_python_holds(name):
    control = make()[name]
    tag = control.model.tags[0]["normlab"]
    for text in tag["values"] or ["1", "7", "12"]:
        value, notice = OPTIONS[name].parse(text)
        assert notice is None
        control.set(value)
        held = getattr(control.model, tag["property"])
        assert (tag["values"][held] if tag["indexed"] else str(held)) == text == control.text


def test_a_value_is_said_in_words():
    held = make()
    assert held["depth"].said == "N = 12 layers"
    held["depth"].set(1)
    assert held["depth"].said == "N = 1 layer"
    assert "1.0%" in held["change"].said
    assert make("zh-Hans")["depth"].said != "N = 12 layers"


def test_choices_that_look_alike_are_refused():
    option = Option("attention", "choice", "uniform", choices=("uniform", "softmax"))
    with pytest.raises(ValueError, match="look alike"):
        controls.switch(option, s, shown=lambda _: "same")


def test_a_button_holds_no_value():
    button = make()["perturb"]
    assert button.value is None
    with pytest.raises(TypeError, match="perturb"):
        button.set(1)


def test_a_press_in_a_served_app_is_told():
    button = make()["perturb"]
    told = []
    button.on_press(lambda: told.append("pressed"))
    button.widget.clicks += 1
    assert told == ["pressed"]


def test_a_closed_control_leaves_nothing_with_panel():
    control = make()["depth"]
    id = control.model.id
    assert id in pn.state._views
    control.close()
    assert id not in pn.state._views
