"""The floor under every measurement: a bare Panel slider that moves one point of one figure.

Runs in the worker, beside the site's experiments and without their machinery: the page's change
comes as a Bokeh patch, Panel hears of it, a callback gives the source its new data, and what Bokeh
makes of that goes back as a patch, as in Panel's own link between a page and its worker.
"""

import json
from collections.abc import Callable
from typing import Any

import panel as pn
from bokeh.core.serialization import Serializer
from bokeh.document import Document
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure

STEPS = 100

opened: list[Document] = []


class Slider(pn.widgets.IntSlider):
    """Without the style sheets that Panel would have the page ask another host for."""

    def _process_param_change(self, params: dict[str, Any]) -> dict[str, Any]:
        plain = {name: value for name, value in params.items() if name != "stylesheets"}
        properties: dict[str, Any] = super()._process_param_change(plain)
        return {name: value for name, value in properties.items() if name != "stylesheets"}

    def _get_properties(self, doc: Document | None) -> dict[str, Any]:
        return self._process_param_change(self._init_params())

    def _update_properties(self, *events: Any, doc: Document) -> dict[str, Any]:
        return self._process_param_change({event.name: event.new for event in events})


def begin(send: Callable[[str], object]) -> str:
    """Build the document, and send what changes in it; returns it, and its roots, as JSON."""
    document = Document()  # here, for a session's beginning sets back by what models are numbered
    opened.append(document)
    slider = Slider(start=0, end=STEPS, value=0)
    source = ColumnDataSource(data={"x": [0], "y": [0]})
    x, y = (Range1d(start=-1, end=STEPS + 1) for _ in "xy")
    # As the experiments' figures: the site's BokehJS has no tools.
    plot = figure(width=400, height=300, x_range=x, y_range=y, tools="", toolbar_location=None)
    plot.scatter("x", "y", source=source)

    def move(event: Any) -> None:
        source.data = {"x": [event.new], "y": [event.new]}

    slider.param.watch(move, "value")
    model = slider.get_root(Document())
    for root in (model, plot):
        document.add_root(root)

    def changed(event: Any) -> None:
        if event.setter == "page":
            return
        serializer = Serializer(references=document.models.synced_references, deferred=False)
        send(json.dumps({"events": serializer.encode([event])}))

    stored = {"document": document.to_json(deferred=False), "roots": [model.id, plot.id]}
    document.on_change(changed)
    return json.dumps(stored)


def take(patch: str) -> None:
    opened[-1].apply_json_patch(json.loads(patch), setter="page")
