"""A page with nothing but controls and figures: two sections whose documents hold equal ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bokeh
import bokeh.util.serialization as ids
from bokeh.document import Document

from app.probes.options import OPTIONS
from app.site import node, scripts
from app.ui import controls, theme
from app.ui.strings import strings

BOKEHJS = Path(bokeh.__file__).parent / "server" / "static" / "js"
SCRIPTS = ("bokeh.min.js", "paint.js")
LATE = ("bokeh-widgets.min.js", "controls.js")
FAR = "far"  # a section below the others, out of sight

STYLE = """
body { margin: 0; background: var(--nl-paper); color: var(--nl-ink); }
body { font: 16px/1.5 var(--nl-font); }
main { max-width: 60rem; margin: auto; padding: 1rem; }
.help { color: var(--nl-muted); }
.space { height: 4000px; }
"""


def write(folder: Path) -> None:
    """Write the page as `index.html`, with all that it loads."""
    node.packages()
    ours = scripts.gather()
    for name in (*SCRIPTS, *LATE):
        script = ours[name] if name in ours else (BOKEHJS / name).read_bytes()
        (folder / name).write_bytes(script)
    (folder / "style.css").write_text(theme.css() + STYLE, encoding="utf-8")
    loaded = "".join(f'<script defer src="{name}"></script>' for name in SCRIPTS)
    loaded += "".join(f'<link rel="preload" as="script" href="{it}" data-late>' for it in LATE)
    document = json.dumps(build()[1]["document"])
    (folder / "document.js").write_text(f"document.currentScript.holds={document}", "utf-8")
    texts = json.dumps({"strings": {"stale_failed": "Shown here: {shown}."}})
    (folder / "index.html").write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Controls</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><link rel="stylesheet" href="style.css">{loaded}'
        f'<script type="application/json" id="normlab-page">{texts}</script></head>'
        f"<body><main><h1>Controls</h1>{section('one')}{section('two')}"
        f'<div class="space"></div>{section(FAR)}</main></body></html>',
        encoding="utf-8",
    )


def section(name: str) -> str:
    """The experiment's place; what it is painted from stands in `document.js`."""
    held, stored = build()
    del stored["document"]
    boxes = "".join(
        f'<div data-control="{one.name}"><label>{one.label}</label> <output data-value></output>'
        f'<p class="help">{one.help}</p><div data-slot="control:{one.name}"></div></div>'
        for one in held
        if one.option
    )
    buttons = "".join(
        f'<div data-slot="button:{one.name}"></div>' for one in held if not one.option
    )
    return (
        f'<section data-experiment="{name}" data-document="document.js"><h2>Section {name}</h2>'
        f'<script type="application/json" data-stored>{json.dumps(stored)}</script>'
        f'{boxes}{buttons}<div data-part="stale"></div><div data-part="notice"></div>'
        f"<figure><figcaption>A line in {name}</figcaption>"
        '<div data-slot="figure:main"></div></figure></section>'
    )


def build() -> tuple[list[controls.Control], dict[str, Any]]:
    """One of each control and a figure, as a page stores them; the same ids every time."""
    ids._simple_id = 1000
    say = strings("en")
    held = [
        controls.slider(OPTIONS["depth"], say),
        controls.slider(OPTIONS["change"], say, values=[0.001, 0.01, 0.1], shown="{:.1%}".format),
        controls.select(OPTIONS["width"], say, values=[64, 128, 256], shown=str),
        controls.switch(OPTIONS["attention"], say),
        controls.number(OPTIONS["seed"], say),
        controls.button("perturb", say, primary=True),
        controls.button("stop", say),
    ]
    plot = theme.figure(x_axis_label="Number of layers N", height=300)
    for wiring in ("post_ln", "pre_ln"):
        kinds = theme.SERIES[wiring]
        label = say(f"wiring.{wiring}")
        plot.line([1, 2, 3], [1, 2, 4], legend_label=label, **kinds["estimate"].line())
    theme.legend_below(plot)
    roots = {f"{'control' if one.option else 'button'}:{one.name}": one.model for one in held}
    roots["figure:main"] = plot
    document = Document()
    for model in roots.values():
        document.add_root(model)
    stored = {
        "document": document.to_json(deferred=False),
        "roots": {slot: model.id for slot, model in roots.items()},
        "state": {one.name: one.text for one in held if one.option},
    }
    return held, stored
