"""What a page needs besides its text: style, scripts, fonts, BokehJS, in a folder named by content.

BokehJS is taken out of the very wheel that draws the documents, KaTeX's style and fonts out of the
package that typesets the formulas: neither can drift from what it belongs to.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import bokeh

from app.site import bokehjs, documents, scripts
from app.site.bundle import without_source_map
from app.site.scripts import WEB
from app.ui import theme

# Figures, and the widgets that our controls render. Panel's own script (767 kB) is not needed.
BOKEHJS = ("bokeh.min.js", "bokeh-widgets.min.js")
SHEETS = (  # one sheet to the browser, in this order
    *("style.css", "experiment.css", "boards.css", "media.css"),
    *("around.css", "toolbar.css"),
)
NOTICES = "THIRD_PARTY.txt"


@dataclass(frozen=True)
class Assets:
    """The written folder. `folder`: its address below the site's root, with a slash at the end."""

    folder: str
    names: tuple[str, ...]


def write(site: Path, katex: Path, notices: str, models: Collection[str]) -> Assets:
    """Write `assets/<hash>/` below `site`. `katex`: the npm package. `notices`: of all other parts.
    `models`: the names of Bokeh's that the pages' documents hold.

    Raises FileNotFoundError when a part is not where its package keeps it, ValueError when it is
    not as it is known here.
    """
    content = gather(katex, notices, models)
    digest = hashlib.sha256()
    for name, data in sorted(content.items()):
        digest.update(f"{name} {hashlib.sha256(data).hexdigest()}\n".encode())
    folder = f"assets/{digest.hexdigest()[:12]}/"
    for name, data in content.items():
        path = site / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return Assets(folder, tuple(sorted(content)))


def gather(katex: Path, notices: str, models: Collection[str]) -> dict[str, bytes]:
    """All assets by name."""
    static = Path(bokeh.__file__).parent / "server" / "static" / "js"
    fonts = sorted((katex / "dist" / "fonts").glob("*.woff2"))
    if not fonts:
        raise FileNotFoundError(f"{katex} holds no fonts.")
    core, widgets = (without_source_map((static / name).read_bytes()).decode() for name in BOKEHJS)
    reduced = bokehjs.reduced(core, widgets, models)
    licence = (katex / "LICENSE").read_text(encoding="utf-8")
    ours = scripts.gather()
    return {
        **ours,
        "controls.js": ours["controls.js"] + documents.sheets().encode(),
        **{name: script.encode() for name, script in zip(BOKEHJS, reduced, strict=True)},
        **{f"fonts/{path.name}": path.read_bytes() for path in fonts},
        "icon.svg": (WEB / "icon.svg").read_bytes(),
        "style.css": "\n".join([theme.css(), *map(_text, SHEETS)]).encode(),
        "katex.css": only_woff2((katex / "dist" / "katex.min.css").read_text("utf-8")).encode(),
        NOTICES: f"{notices}\nKaTeX, its style sheet and fonts\n\n{licence}".encode(),
    }


def _text(name: str) -> str:
    return (WEB / name).read_text(encoding="utf-8")


def only_woff2(css: str) -> str:
    """KaTeX's style sheet without the older kinds of fonts, which no browser here asks for."""
    css, fonts = re.subn(
        r"src:(url\([^)]*\.woff2\) ?format\([^)]*\))(?:,url\([^)]*\) ?format\([^)]*\))*",
        r"src:\1",
        css,
    )
    if not fonts or re.search(r"\.(woff|ttf)\b", css):
        raise ValueError("KaTeX's style sheet names its fonts in another way than is known here.")
    return css.replace("@font-face{", "@font-face{font-display:swap;")
