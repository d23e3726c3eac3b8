"""The reduced BokehJS holds what it is asked for, and says so when it cannot."""

import re
from pathlib import Path

import bokeh
import pytest

from app.site import assets, bokehjs, scripts

CORE, WIDGETS = (
    (Path(bokeh.__file__).parent / "server" / "static" / "js" / name).read_text("utf-8")
    for name in assets.BOKEHJS
)


def test_models_that_are_not_named_are_left_out_and_all_others_are_registered() -> None:
    core, widgets = bokehjs.reduced(CORE, WIDGETS, ["DocumentConfig", "Line", "Slider"])
    assert re.search(r"register_models\(\{Line:t\(\d+\)\.Line\}\)", core)
    assert re.search(r"register_models\(\{Slider:t\(\d+\)\.Slider\}\)", widgets)
    assert '"models/glyphs/line"' in core
    assert not any(name in core for name in ("hex_tile", "lasso_select_tool", "wmts_tile_source"))
    assert "DatePicker" not in widgets
    assert len(core) < len(CORE) * 0.75
    assert len(widgets) < len(WIDGETS) * 0.25


def test_what_our_scripts_ask_for_is_there_without_any_model() -> None:
    asked = re.compile(r'Bokeh\.require\("([^"]+)"\)')
    names = {
        name for script in scripts.WEB.glob("*.js") for name in asked.findall(script.read_text())
    }
    core, _ = bokehjs.reduced(CORE, WIDGETS, [])
    listed = core[core.rindex("{", 0, core.rindex("}, {});")) :]
    assert names
    for name in ("index", *names):
        assert f'"{name}":' in listed or f'"{name}/index":' in listed, name


@pytest.mark.parametrize("model", ["Sldier", "Diagram"])
def test_a_model_that_bokehjs_has_not_is_refused(model: str) -> None:
    with pytest.raises(ValueError, match=model):
        bokehjs.reduced(CORE, WIDGETS, [model])


def test_another_bokehjs_is_refused() -> None:
    with pytest.raises(ValueError, match="another way"):
        bokehjs.reduced(CORE.replace("], 0, {", "], {"), WIDGETS, [])
    with pytest.raises(ValueError, match="another way"):
        bokehjs.reduced(CORE, WIDGETS.replace("function _(", "(_) => ("), [])


def test_names_are_those_of_models_alone() -> None:
    figure = {"type": "object", "name": "Figure", "id": "p1", "attributes": {"name": "loss"}}
    kept = [figure, {"type": "map", "entries": [["Line", {"name": "Line"}]]}]
    assert bokehjs.names_in({"roots": kept}) == {"Figure"}
