"""What Bokeh's models are by default: remembered, and the same as Bokeh works out each time."""

import json
import subprocess
import sys
from typing import Any

import pytest
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.document import Document
from bokeh.models import ColumnDataSource, LinearAxis, Text
from bokeh.models.renderers import GlyphRenderer
from bokeh.themes import Theme

from app import live
from app.experiments import EXPERIMENTS

AS_BOKEH_DOES = """
import json
from app.ui import defaults
defaults.remember = lambda: None
from app import live
from app.experiments import EXPERIMENTS
print(json.dumps([live.fresh(name, "en")[1].json for name in EXPERIMENTS]))
"""


def written(*models: Any) -> Any:
    document = Document()
    for model in models:
        document.add_root(model)
    return document.to_json(deferred=False)["roots"]


def test_documents_are_what_bokeh_makes_of_them() -> None:
    done = subprocess.run(
        [sys.executable, "-c", AS_BOKEH_DOES], text=True, capture_output=True, check=True
    )
    ours = [live.fresh(name, "en")[1].json for name in EXPERIMENTS]
    assert json.loads(json.dumps(ours)) == json.loads(done.stdout)


def test_what_has_to_be_set_and_is_not_is_told() -> None:
    with pytest.raises(UnsetValueError, match="glyph"):
        written(GlyphRenderer(data_source=ColumnDataSource()))


def test_what_is_made_anew_for_each_model_is_shared_by_none() -> None:
    one, other = ColumnDataSource(), ColumnDataSource()
    one.data["x"] = [1]
    assert one.selected is not other.selected
    assert other.data == {}
    assert LinearAxis().axis_line_dash is not LinearAxis().axis_line_dash
    assert Text().text is not Text().text


def test_a_theme_still_says_what_nobody_has_set() -> None:
    axis, other = LinearAxis(), LinearAxis()
    document = Document(theme=Theme(json={"attrs": {"Axis": {"axis_label_text_font": "serif"}}}))
    document.add_root(axis)
    assert axis.axis_label_text_font == "serif"
    assert other.axis_label_text_font != "serif"
    (root,) = document.to_json(deferred=False)["roots"]
    assert root["attributes"]["axis_label_text_font"] == "serif"
