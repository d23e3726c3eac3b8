"""The only controls there are: each wraps one Panel widget that renders one Bokeh model.

A control stands as its own document root. It shows no title of its own: its label, its value in
words and its help are light-DOM HTML beside it, where search, translation and a screen reader
find them. What the page needs in order to work the control before Python is up travels in the
model's tags (`Control._tags`); `web/controls.js` gives the element in the shadow root its name, its
value in words, its focus ring and its reach for a finger.

Stock Panel widgets name style sheets on a foreign host, which would be asked for as soon as a
page is live, and some of them need Panel's own JS (767 kB). These are the same Panel classes,
made to render the plain Bokeh model, with one small style sheet of our own (`_Plain`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import panel as pn
from bokeh.document import Document
from bokeh.model import Model
from bokeh.models.widgets import Button as BokehButton
from bokeh.models.widgets import Select as BokehSelect

from app.probes.options import Option
from app.ui import control_css
from app.ui.strings import Strings

# Panel wants a document before a model has one. Making a document counts ids, so: one for all.
_NOWHERE = Document()

Words = str | Mapping[str, str]
"""A text with `{value}` in it, or its plural forms under `one` and `other`."""


class Control:
    """One value the reader can change, or one button to press.

    `value` is the option's own typed value (`None` for a button), `text` its canonical text.
    `label`, `help` and `said` (the value in words) are for the light DOM.
    """

    def __init__(
        self,
        widget: Any,  # a Panel widget
        *,
        name: str,
        label: str,
        help: str = "",
        words: Words = "{value}",
        option: Option | None = None,
        values: list[Any] | None = None,
        shown: list[str] | None = None,
        clamped: str | None = None,
    ) -> None:
        self.widget = widget
        self.name = name
        self.label = label
        self.help = help
        self.option = option
        self._words = words
        self._values = values  # all that can be chosen; None: every whole number between bounds
        self._shown = shown  # what a reader sees for each of them
        self._model: Model | None = None
        widget.tags = [{"normlab": self._tags(clamped)}]

    @property
    def model(self) -> Model:
        """The Bokeh model, made when first asked for: ids are counted in the order of asking."""
        if self._model is None:
            self._model = self.widget.get_root(_NOWHERE)
        return self._model

    def close(self) -> None:
        """Let Panel forget the model, which it otherwise keeps for good."""
        if self._model is not None:
            pn.state._views.pop(self._model.ref["id"], None)
            self._model = None

    @property
    def value(self) -> Any:
        held = None if self.option is None else self.widget.value
        return held if self._values is None else self._values[self._held().index(held)]

    @property
    def text(self) -> str:
        return "" if self.option is None else self.option.format(self.value)

    @property
    def said(self) -> str:
        """The value in words: "N = 12 layers"."""
        text = self.text
        shown = text if self._shown is None else self._shown[self._index(self.value)]
        if isinstance(self._words, str):
            return self._words.replace("{value}", shown)
        return self._words["one" if text == "1" else "other"].replace("{value}", shown)

    def named(self, text: str) -> str:
        """A choice as the page calls it, by its canonical text; what has no such name, as it is."""
        if self.option is None or self._shown is None or not self.option.choices:
            return text
        names = dict(zip(map(self.option.format, self._values or ()), self._shown, strict=True))
        return names.get(text, text)

    def set(self, value: Any) -> Any:
        """Show `value`, or the nearest that this control can show; returns what is shown."""
        if self.option is None:
            raise TypeError(f"The button {self.name!r} holds no value.")
        if self._values is None:
            value = min(max(value, self.widget.start), self.widget.end)
            self.widget.value = value
        else:
            index = self._index(value)
            value = self._values[index]
            self.widget.value = self._held()[index]
        return value

    def on_change(self, callback: Callable[[Any], object]) -> None:
        """Call back with the new value whenever it changes, by the reader or by `set`."""
        self.widget.param.watch(lambda _: callback(self.value), "value")

    def on_press(self, callback: Callable[[], object]) -> None:
        """Call back when the button is pressed in a served app (a page posts its presses)."""
        self.widget.param.watch(lambda _: callback(), "clicks")

    @property
    def disabled(self) -> bool:
        return bool(self.widget.disabled)

    @disabled.setter
    def disabled(self, disabled: bool) -> None:
        self.widget.disabled = disabled

    def _held(self) -> list[Any]:
        """What the widget holds for each of the values: its place, or its text."""
        assert self._values is not None
        if isinstance(self.widget, _Slider):
            return list(range(len(self._values)))
        return list(self.widget.options.values())

    def _index(self, value: Any) -> int:
        """The place of `value`, else of the nearest number, else of what is shown now."""
        assert self._values is not None
        if value in self._values:
            return self._values.index(value)
        if isinstance(value, int | float):
            return min(range(len(self._values)), key=lambda i: abs(self._values[i] - value))  # type: ignore[index]
        return self._values.index(self.value)

    def _tags(self, clamped: str | None) -> dict[str, Any]:
        """What `web/controls.js` needs: which property holds which value, and how it is said.

        With `values`, the property holds a place in that list (`indexed`) or one of its texts.
        """
        if self.option is None:
            return {"action": self.name, "label": self.label}
        if self._values is None:
            low, high, values = self.widget.start, self.widget.end, None
        else:
            low, high = self._values[0], self._values[-1]
            values = [self.option.format(value) for value in self._values]
        return {
            "option": self.name,
            "property": "active" if isinstance(self.widget, _Switch) else "value",
            "values": values,
            "indexed": values is not None and not isinstance(self.widget, _Select),
            "shown": self._shown,
            "low": self.option.format(low),
            "high": self.option.format(high),
            "label": self.label,
            "clamped": clamped,
            "words": self._words if isinstance(self._words, str) else dict(self._words),
        }


class Pick(Control):
    """An option that has no widget: buttons in the light DOM set it (`data-sets`).

    For choices that a widget cannot show, such as the pieces of a formula.
    """

    def __init__(
        self,
        *,
        name: str,
        label: str,
        help: str,
        words: Words,
        option: Option,
        shown: list[str] | None,
    ) -> None:
        self.name, self.label, self.help = name, label, help
        self.option: Option = option
        self._words = words
        self._values = list(option.choices)
        self._shown = shown
        self._chosen = option.default

    @property
    def model(self) -> Model:
        raise TypeError(f"The option {self.name!r} has no model: buttons of the page set it.")

    @property
    def value(self) -> Any:
        return self._chosen

    def set(self, value: Any) -> Any:
        """Choose `value`; one that is no choice changes nothing. Returns what is chosen."""
        if value in self.option.choices:
            self._chosen = value
        return self._chosen


# ---------------------------------------------------------------------------- the six controls


def slider(
    option: Option,
    s: Strings,
    *,
    values: Iterable[Any] | None = None,
    low: int | None = None,
    high: int | None = None,
    shown: Callable[[Any], str] | None = None,
    key: str | None = None,
) -> Control:
    """A slider over the whole numbers from `low` to `high`, or over the places of `values`.

    Bounds default to the option's. `shown` says a value to a reader where its canonical text
    will not do (0.01 → "1 %"). Texts: `<key>.label`, `.help`, `.words`; key: `option.<name>`.
    """
    places = None if values is None else list(values)
    if places is None:
        widget = _Slider(
            start=option.low if low is None else low,
            end=option.high if high is None else high,
            value=option.default,
        )
    else:
        widget = _Slider(start=0, end=len(places) - 1, value=places.index(option.default))
    labels = [shown(value) for value in places] if shown and places else None
    return Control(widget, **_texts(option, s, key), option=option, values=places, shown=labels)


def select(
    option: Option,
    s: Strings,
    *,
    values: Iterable[Any] | None = None,
    shown: Callable[[Any], str] | None = None,
    key: str | None = None,
) -> Control:
    """A drop-down list of `values`, by default the option's choices.

    What a reader sees for each: `shown`, by default the text `<key>.choices.<canonical text>`.
    """
    return _choice(_Select, option, s, values, shown, key)


def switch(
    option: Option,
    s: Strings,
    *,
    values: Iterable[Any] | None = None,
    shown: Callable[[Any], str] | None = None,
    key: str | None = None,
) -> Control:
    """A few values side by side, one of them on: a radio group. Otherwise as `select`."""
    return _choice(_Switch, option, s, values, shown, key)


def number(
    option: Option,
    s: Strings,
    *,
    low: int | None = None,
    high: int | None = None,
    key: str | None = None,
) -> Control:
    """A field for a whole number, with steppers: the seed."""
    widget = _Number(
        start=option.low if low is None else low,
        end=option.high if high is None else high,
        value=option.default,
    )
    texts = _texts(option, s, key)
    clamped = s(
        "experiment.notice.clamped",
        label=texts["label"],
        low=widget.start,
        high=widget.end,
        given="{given}",
        used="{used}",
    )
    return Control(widget, **texts, option=option, clamped=clamped)


def pick(option: Option, s: Strings, *, key: str | None = None) -> Control:
    """A choice that is made by buttons of the experiment's own board. Texts as of a `select`, but
    choices that are only numbers need none."""
    names = [f"{key or f'option.{option.name}'}.choices.{choice}" for choice in option.choices]
    shown = [s(name) for name in names] if all(name in s for name in names) else None
    return Pick(**_texts(option, s, key), option=option, shown=shown)


def button(action: str, s: Strings, *, primary: bool = False, key: str | None = None) -> Control:
    """A button that asks for an action. Texts: `<key>.label`, `.help`; key: `action.<name>`."""
    key = key or f"action.{action}"
    label = s(f"{key}.label")
    widget = _Button(label=label, color="primary" if primary else "default")
    help = s(f"{key}.help") if f"{key}.help" in s else ""
    return Control(widget, name=action, label=label, help=help)


def _choice(
    kind: type[pn.widgets.Widget],
    option: Option,
    s: Strings,
    values: Iterable[Any] | None,
    shown: Callable[[Any], str] | None,
    key: str | None,
) -> Control:
    places = list(option.choices or ()) if values is None else list(values)
    texts = [option.format(value) for value in places]
    start = f"{key or f'option.{option.name}'}.choices"
    labels = [shown(v) if shown else s(f"{start}.{t}") for v, t in zip(places, texts, strict=True)]
    options = dict(zip(labels, texts, strict=True))
    if len(options) < len(places):
        raise ValueError(f"Two choices of {option.name!r} look alike to a reader: {labels}.")
    widget = kind(options=options, value=option.format(option.default))
    return Control(widget, **_texts(option, s, key), option=option, values=places, shown=labels)


def _texts(option: Option, s: Strings, key: str | None) -> dict[str, Any]:
    key = key or f"option.{option.name}"
    return {
        "name": option.name,
        "label": s(f"{key}.label"),
        "help": s(f"{key}.help"),
        "words": s.raw(f"{key}.words") if f"{key}.words" in s else "{value}",
    }


# ---------------------------------------------------------------------------- Panel's, made plain


class _Plain(pn.widgets.Widget):
    """A Panel widget without Panel's style sheets, its design and its own JS.

    Panel writes style sheets at three places: when the model is made, when a parameter changes
    and when a design is applied; all three come through `_process_param_change`. A design would
    also make models of its own, and as many as other widgets of the session have left to make,
    so that a model's id would depend on what was built before it.
    """

    _css: str = ""  # for the shadow root

    def __init__(self, **params: Any) -> None:
        super().__init__(**{"margin": 0, "sizing_mode": "stretch_width", "width": None} | params)

    def _process_param_change(self, params: dict[str, Any]) -> dict[str, Any]:
        plain = {name: value for name, value in params.items() if name != "stylesheets"}
        properties: dict[str, Any] = super()._process_param_change(plain)
        if "stylesheets" in params:
            properties["stylesheets"] = [control_css.COMMON + self._css]
        return properties

    def _get_properties(self, doc: Document | None) -> dict[str, Any]:
        return self._process_param_change(self._init_params())

    def _update_properties(self, *events: Any, doc: Document) -> dict[str, Any]:
        return self._process_param_change({event.name: event.new for event in events})


class _Slider(_Plain, pn.widgets.IntSlider):
    _css = control_css.SLIDER

    def __init__(self, **params: Any) -> None:
        super().__init__(show_value=False, tooltips=False, **params)


class _Select(_Plain, pn.widgets.Select):
    _css = control_css.FIELD
    _widget_type = BokehSelect
    _rename: ClassVar = {"size": None, "disabled_options": None, "description": None}


class _Switch(_Plain, pn.widgets.RadioBoxGroup):
    _css = control_css.SWITCH

    def __init__(self, **params: Any) -> None:
        super().__init__(inline=True, **params)


class _Number(_Plain, pn.widgets.IntInput):
    _css = control_css.FIELD


class _Button(_Plain, pn.widgets.Button):
    _css = control_css.BUTTON
    _widget_type = BokehButton
    _rename: ClassVar = {"label": "label", "description": None, "description_delay": None}

    def __init__(self, **params: Any) -> None:
        super().__init__(sizing_mode=None, **params)
