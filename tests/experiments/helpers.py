"""Running an experiment without a page."""

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

from bokeh.document import Document

from app.experiments.sensitivity import Sensitivity

SMALL = {"width": "32", "seeds": "4"}  # a fraction of a second


def finish(experiment: Sensitivity) -> None:
    while experiment.step():
        pass


def shown(state: Mapping[str, str] = SMALL, language: str = "en") -> Sensitivity:
    """An experiment that has come to rest at `state`."""
    experiment = Sensitivity(language)
    experiment.set(state)
    finish(experiment)
    return experiment


def measured(state: Mapping[str, str] = SMALL, language: str = "en") -> Sensitivity:
    experiment = shown(state, language)
    experiment.press("perturb")
    finish(experiment)
    return experiment


def words(experiment: Sensitivity, part: str) -> str:
    """A part as a reader sees it."""
    in_one = re.sub(r'<span class="whole">(.*?)</span>', r"\1", experiment.parts()[part])
    plain = unescape(re.sub(r"<[^>]+>", " ", in_one))
    return re.sub(r"\s+", " ", plain).strip()


def patch_as_the_page(document: Document, patch: dict[str, Any]) -> None:
    """Apply a patch as BokehJS does: what it says of some columns leaves the others as they are,
    where Bokeh's Python would drop these."""
    for event in patch["events"]:
        if event.get("cols"):
            held = document.models[event["model"]["id"]].data
            rest = held.keys() - set(event["cols"])
            event["data"]["entries"] += [[name, list(held[name])] for name in rest]
        document.apply_json_patch({"events": [event]})
