"""BokehJS with no more in it than the stored documents need: half of its bytes and of its start.

Its scripts are tables of modules, each a function that asks for others by number:

    function _(require, module, exports, …) { const base = require(7); … }

in shortened names. What the entries and the named models do not lead to is left out, and only
these models are registered, in the order in which BokehJS itself runs their modules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

ASKED_FOR = (
    *("document/index", "core/view_manager", "core/build_views", "core/visuals/visual"),
    *("models/renderers/data_renderer", "models/renderers/glyph_renderer", "models/grids/grid"),
    "models/plots/plot_canvas",
)
"""What our scripts take besides the index."""
ICONS = "styles/icons.css"
"""A ninth of BokehJS: what the buttons of tools show."""
OF_ITSELF = {"DocumentConfig"}
"""Models that BokehJS registers wherever it has documents."""

_SHEET = re.compile(r"(?<=\.default=)'[^']*'")
_MODULES = re.compile(r",\n(?=(?:\d+: )?function _\()")
_TABLE = (
    r"(?P<before>.*?\n\({0}\n)(?P<modules>.*?),?\n{1}, "
    r"(?P<entry>\d+), (?P<names>\{{[^\n]*?\}})(?P<after>, \{{.*)"
)
_CORE = re.compile(_TABLE.format(r"\[", r"\]"), re.DOTALL)
_PLUGIN = re.compile(_TABLE.format(r"\{", r"\}"), re.DOTALL)


def reduced(core: str, widgets: str, models: Collection[str]) -> tuple[str, str]:
    """`bokeh.min.js` and `bokeh-widgets.min.js` without what documents of these models do not need.

    Raises ValueError where the scripts are not made as is known here, or a model is in neither.
    """
    tables = [_Table.read(core, _CORE), _Table.read(widgets, _PLUGIN)]
    modules = {number: code for table in tables for number, code in table.modules.items()}
    names = {name: number for table in tables for name, number in table.names.items()}
    places = {name: _place(name, modules, names) for name in {*models} - OF_ITSELF}
    if not any(name.endswith("Tool") for name in models):
        modules[names[ICONS]], found = _SHEET.subn("''", modules[names[ICONS]])
        if found != 1:
            raise ValueError("BokehJS keeps its icons in another way than is known here.")
    base = names["base"]
    for table, first in (
        (tables[0], f"t(1).__exportStar(t({names['index']}),n);"),
        (tables[1], ""),
    ):
        own = sorted((place, name) for name, place in places.items() if place in table.modules)
        listed = ",".join(f"{name}:t({place}).{name}" for place, name in own)
        register = f"t({base}).register_models({{{listed}}})"
        modules[table.entry] = f"function _(t,m,n,e,x){{e();{first}{register}}}"
    kept = _reached([*(table.entry for table in tables), *(names[it] for it in ASKED_FOR)], modules)
    return tables[0].written(modules, kept), tables[1].written(modules, kept)


def names_in(node: object) -> set[str]:
    """The models' names in a document's JSON."""
    if isinstance(node, Mapping):
        own = {str(node["name"])} if node.get("type") == "object" else set()
        return own.union(*map(names_in, node.values()))
    return set().union(*map(names_in, node)) if isinstance(node, list | tuple) else set()


@dataclass(frozen=True)
class _Table:
    """A script's modules by number, what stands around them, and the numbers' names."""

    before: str
    modules: Mapping[int, str]
    entry: int
    names: Mapping[str, int]
    after: str

    @classmethod
    def read(cls, script: str, form: re.Pattern[str]) -> _Table:
        found = form.fullmatch(script)
        if found is None:
            raise ValueError("BokehJS is written in another way than is known here.")
        modules = {}
        for place, code in enumerate(_MODULES.split(found["modules"])):
            number, numbered, rest = code.partition(": function _(")
            modules[int(number) if numbered else place] = f"function _({rest}" if numbered else code
        names = json.loads(found["names"])
        if not all(number in modules for number in names.values()):
            raise ValueError("BokehJS numbers its modules in another way than is known here.")
        before = found["before"].removesuffix("[\n").removesuffix("{\n")
        return cls(before, modules, int(found["entry"]), names, found["after"])

    def written(self, modules: Mapping[int, str], kept: Collection[int]) -> str:
        own = [number for number in self.modules if number in kept]
        table = ",\n".join(f"{number}: {modules[number]}" for number in own)
        names = {name: number for name, number in self.names.items() if number in own}
        listed = json.dumps(names, separators=(",", ":"))
        return f"{self.before}{{\n{table}\n}}, {self.entry}, {listed}{self.after}"


def _place(model: str, modules: Mapping[int, str], names: Mapping[str, int]) -> int:
    """The module that makes a model of this name; other things of BokehJS may be called so, too."""
    own = (f".__name__={json.dumps(model)}", f".{model}=")
    found = [
        number
        for name, number in names.items()
        if name.startswith("models/") and not name.startswith("models/dom/")
        if all(sign in modules[number] for sign in own)
    ]
    if len(found) != 1:
        raise ValueError(f"BokehJS has {len(found)} models that are called {model}.")
    return found[0]


def _reached(entries: Iterable[int], modules: Mapping[int, str]) -> set[int]:
    reached: set[int] = set()
    waiting = list(entries)
    while waiting:
        number = waiting.pop()
        if number not in reached:
            reached.add(number)
            waiting += [it for it in _required(modules[number]) if it in modules]
    return reached


def _required(code: str) -> list[int]:
    """What a module asks for, and perhaps more: its first parameter's name may be used again."""
    parameter = re.match(r"function _\(([\w$]+)", code)
    if parameter is None:
        raise ValueError("A module of BokehJS begins in another way than is known here.")
    return [int(n) for n in re.findall(rf"(?<![\w$.]){re.escape(parameter[1])}\((\d+)\)", code)]
