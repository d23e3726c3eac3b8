"""Python's packages, their JavaScript and the pins must be of one version, or pages break."""

from __future__ import annotations

import importlib.metadata
import json
import re
from pathlib import Path

from app.site import fetch
from app.site.environment import Failure


def check() -> None:
    """Raise Failure unless Python's packages and their JavaScript are the pinned ones."""
    for name, wanted in fetch.PINS["python"].items():
        found = importlib.metadata.version(name)
        if found != wanted:
            raise Failure(
                f"{name} {found} is installed but app/site/runtime.json says {wanted}; make one "
                "follow the other."
            )
    bokehjs = package("bokeh") / "server" / "static" / "js" / "bokeh.min.js"
    check_bokehjs(bokehjs.read_text(encoding="utf-8"), fetch.PINS["python"]["bokeh"])
    panel = json.loads((package("panel") / "package.json").read_text(encoding="utf-8"))
    check_same("Panel's JavaScript", panel["version"], fetch.PINS["python"]["panel"])


def check_bokehjs(script: str, wanted: str) -> None:
    """Raise Failure unless BokehJS has the wanted version.

    One of its modules exports nothing but that; others carry versions of what they bundle.
    """
    found = re.search(r'function _\([\w,]*\)\{\w\(\),\w\.version="([^"]+)"\}', script)
    check_same("BokehJS", found[1] if found else "unknown", wanted)


def check_same(name: str, found: str, wanted: str) -> None:
    """Raise Failure if JavaScript and Python have drifted apart."""
    if found != wanted:
        raise Failure(
            f"{name} is {found} but its Python is {wanted}; remove .venv and run the command again."
        )


def package(name: str) -> Path:
    """Where an installed distribution's package of the same name lies."""
    return Path(str(importlib.metadata.distribution(name).locate_file(name)))
