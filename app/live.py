"""Experiments as sessions: builds documents, applies the page's changes, sends Python's own.

Pure Python: the same code runs in the browser's worker, in the build (which stores the documents
it makes) and in the tests. Control values travel as option texts, both ways; everything else that
Python changes travels as Bokeh patches, which fire no handler on the page.
"""

from __future__ import annotations

import hashlib
import json
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

import bokeh.util.serialization
import numpy
from bokeh.core.property.wrappers import PropertyValueContainer
from bokeh.core.serialization import Serializer
from bokeh.document import Document
from bokeh.document.events import (
    ColumnDataChangedEvent,
    DocumentPatchedEvent,
    ModelChangedEvent,
)
from bokeh.document.json import PatchJson

IN_BROWSER = "_pyodide" in sys.modules
if IN_BROWSER:
    # Panel, when it sees Pyodide, imports its own link between page and worker. That one evaluates
    # JS from a string (a strict policy forbids it), patches `requests` and names style sheets by a
    # CDN's address. The link here is this module; Panel itself needs only the name `serve` of it.
    _link = ModuleType("panel.io.pyodide")
    _link.serve = None  # type: ignore[attr-defined]
    sys.modules["panel.io.pyodide"] = _link

from app.experiments import EXPERIMENTS, export  # noqa: E402  (imports Panel)
from app.ui import defaults  # noqa: E402
from app.ui.strings import strings  # noqa: E402

if TYPE_CHECKING:
    from app.experiments.experiment import Experiment

defaults.remember()
NUMPY = numpy.__version__
FIRST_ID = 1000  # models are numbered from the one after it

Post = Callable[[str], None]
"""Takes one message for the page, as JSON."""


@dataclass
class Built:
    """An experiment's document: one root per control, button and figure."""

    document: Document
    roots: dict[str, str]
    """Slot (`control:depth`, `figure:beta`) → id of the model that is painted there."""
    changes: Changes
    digest: str
    """Over place, type and id of every model, as built: with equal ones, models can be linked."""

    @property
    def json(self) -> dict[str, Any]:
        """The document as it is now, arrays inline."""
        return self.document.to_json(deferred=False)  # type: ignore[return-value]

    def stored(self) -> dict[str, Any]:
        """What a page stores, and what a page is sent whose own document differs.

        `touched`: the properties ([model id, name]) that are no longer as built.
        """
        touched = [list(pair) for pair in sorted(self.changes.touched)]
        stored = {"document": self.json, "roots": self.roots, "digest": self.digest}
        return {**stored, "touched": touched}


class Changes:
    """What Python changes in a document, except the values of controls: they travel as texts."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.events: dict[object, DocumentPatchedEvent] = {}
        """In order; of several changes of one property the last."""
        self.touched: set[tuple[str, str]] = set()
        self._values = {
            (model.id, tag["normlab"]["property"])
            for model in document.roots
            for tag in model.tags
            if isinstance(tag, dict) and "property" in tag.get("normlab", {})
        }
        document.callbacks.on_change(self._note)

    def _note(self, event: Any) -> None:
        # As they come, not held back by the document: then Panel knows its own changes of a widget,
        # and does not take each for one of the page's, which cost as much as drawing.
        if isinstance(event, ModelChangedEvent):
            property = (event.model.id, event.attr)
            if property in self._values:
                return
            self.touched.add(property)
            self.events[property] = event
        elif isinstance(event, ColumnDataChangedEvent):
            self.touched.add((event.model.id, event.attr))
            self.events[event.model.id, event.attr, *(event.cols or ())] = event
        elif isinstance(event, DocumentPatchedEvent):
            self.events[event] = event

    def again(self, properties: Iterable[tuple[str, str]]) -> None:
        """Send these properties as they are, even though they did not change here."""
        for id, name in properties:
            model = self.document.get_model_by_id(id)  # type: ignore[arg-type]
            if model is not None and (id, name) not in self.events.keys() | self._values:
                event = ModelChangedEvent(self.document, model, name, getattr(model, name))
                self.events[id, name] = event

    def patch(self) -> str:
        """The changes since the last time, as JSON of one Bokeh patch, arrays inline."""
        models = self.document.models
        serializer = Serializer(references=models.synced_references, deferred=False)
        patch = PatchJson(events=serializer.encode(list(self.events.values())))
        self.events.clear()
        models.flush_synced(lambda model: not serializer.has_ref(model))
        return json.dumps(patch)


def fresh(name: str, language: str) -> tuple[Experiment, Built]:
    """A new experiment and its document, with the same model ids wherever and whenever it is made.

    Raises KeyError when there is no experiment of that name.
    """
    # Bokeh counts models by one counter per process. Several documents may well hold equal ids.
    bokeh.util.serialization._simple_id = FIRST_ID
    experiment = EXPERIMENTS[name](language)
    return experiment, build_document(experiment)


_kept: dict[tuple[str, str], tuple[Experiment, Built, int]] = {}
"""Built ahead, by name and language; with the number that the last of its models has."""
_awaited: deque[tuple[str, str]] = deque()
"""Which of them a page is thought to ask for soon, the newest last."""
_AWAITED = 4  # two for each page, and a reader may point at one link and follow another


def keep(name: str, language: str) -> None:
    """Build an experiment ahead, for a memory that is kept: its first session there has it at once.

    Most of a built document is empty lists and dictionaries that stand for defaults which were
    looked at; Bokeh makes them again when they are asked for, so they need not be kept.
    """
    experiment, built = fresh(name, language)
    for model in built.document.models:
        looked_at = model._unstable_default_values
        for property, value in list(looked_at.items()):
            if isinstance(value, PropertyValueContainer) and not value:
                del looked_at[property]
    _kept[name, language] = experiment, built, bokeh.util.serialization._simple_id


def ahead(name: str, language: str) -> None:
    """A page may soon open a session of this kind: its document is built while the page comes."""
    if (name, language) in _kept:
        return
    try:
        _kept[name, language] = *fresh(name, language), bokeh.util.serialization._simple_id
    except Exception:  # noqa: BLE001  whoever opens it is told
        return
    _awaited.append((name, language))
    while len(_awaited) > _AWAITED:
        _kept.pop(_awaited.popleft(), None)


def _ready_made(name: str, language: str) -> tuple[Experiment, Built]:
    """As `fresh`, but the one that was kept, once."""
    if (name, language) not in _kept:
        return fresh(name, language)
    experiment, built, last_id = _kept.pop((name, language))
    if (name, language) in _awaited:
        _awaited.remove((name, language))
    bokeh.util.serialization._simple_id = last_id
    return experiment, built


def build_document(experiment: Experiment) -> Built:
    """One Bokeh document with the experiment's models as its roots, in the experiment's order."""
    document = Document()
    roots: dict[str, str] = {}
    with document.models.freeze():  # else all models are gathered anew for each root
        for slot, model in experiment.roots().items():
            document.add_root(model)
            roots[slot] = model.id
    return Built(document, roots, Changes(document), digest(document.to_json(deferred=False)))


def digest(document: Any) -> str:
    """Hash over (path, type, id) of every model in a document's JSON."""
    models = json.dumps(list(_models(document["roots"], "")))
    return hashlib.sha256(models.encode()).hexdigest()[:16]


def _models(node: Any, path: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(node, dict):
        if node.get("type") == "object" and "id" in node:
            yield path, node["name"], node["id"]
        for key, value in node.items():
            yield from _models(value, f"{path}/{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _models(value, f"{path}/{index}")


@dataclass
class Session:
    """One experiment on one page."""

    name: str
    language: str
    experiment: Experiment
    built: Built
    post: Post
    seq: int = 0
    unanswered: int | None = None
    working: bool = True
    failed: bool = False
    sent_parts: dict[str, str] = field(default_factory=dict)
    sent_state: dict[str, Any] | None = None
    exporting: bool = False
    """Whether the page waits for files."""
    touched: list[tuple[str, str]] = field(default_factory=list)
    """Properties that the page's document has not as built: sent with the first figures."""

    def send(self, type: str, **content: Any) -> None:
        self.post(json.dumps({"type": type, "session": self.name, **content}, ensure_ascii=False))


_sessions: dict[str, Session] = {}
_order: list[str] = []  # names; the session in front, whose slices come first, is the first


def open(
    session: str, name: str, language: str, state: str, digest: str, touched: str, post: Post
) -> None:
    """Begin a session: an experiment `name` that shows `state` (JSON: option → text).

    The page has a document of this `digest`, in which the properties `touched` (JSON: [[model id,
    name], …]) are not as built. When Python's is another one, it is sent along.
    """
    close(session)
    try:
        experiment, built = _ready_made(name, language)
        opened = Session(session, language, experiment, built, post)
        if IN_BROWSER:
            experiment.where = strings(language)("live.where", numpy=NUMPY)
        experiment.set(json.loads(state))
        stored = None
        if digest == built.digest:
            opened.touched = [(id, property) for id, property in json.loads(touched)]
        else:
            stored = json.dumps(built.stored())
            built.changes.events.clear()
    except Exception:  # noqa: BLE001  whatever went wrong, the page must hear of it
        _post_failure(session, strings(language)("experiment.broken"), post)
        return
    opened.send("opened", digest=built.digest, state=experiment.state(), stored=stored)
    _sessions[session] = opened
    _order.append(session)
    _publish(opened)


def receive(session: str, message: str) -> None:
    """Take a message of the page: `set` (new option values), `press` (a button), `export` (the
    numbers as files, as soon as what runs by itself is done), `close`."""
    content = json.loads(message)
    if content["type"] == "close":
        close(session)
        return
    opened = _sessions.get(session)
    if opened is None:
        return  # closed meanwhile: the page asks no more
    _order.remove(session)
    _order.insert(0, session)
    if content["type"] == "export":
        opened.exporting = True
        _publish(opened)
        return
    opened.seq = content["seq"]
    opened.working, opened.failed = True, False
    if content["type"] == "set":
        opened.unanswered = opened.seq
        with _guarded(opened):
            opened.experiment.set(content["state"])
        _publish(opened)
    elif content["type"] == "press":
        with _guarded(opened):
            opened.experiment.press(content["action"])
        _publish(opened)
        opened.send(
            "answer", seq=opened.seq
        )  # a press is heard at once; a set is answered by what it shows


def step() -> bool:
    """Compute one slice of the frontmost session that has work; True while any has."""
    for name in _order:
        opened = _sessions[name]
        if opened.working:
            with _guarded(opened):
                opened.working = opened.experiment.step()
            _publish(opened)
            break
    return any(opened.working for opened in _sessions.values())


def close(session: str) -> None:
    """End a session; none of that name is no fault."""
    opened = _sessions.pop(session, None)
    if opened is not None:
        _order.remove(session)
        opened.built.document.clear()


@contextmanager
def _guarded(session: Session) -> Iterator[None]:
    """An error inside ends the session's work, not the session."""
    try:
        yield
    except Exception:  # noqa: BLE001  the reader's page must not fall over a bug in a probe
        session.working, session.failed = False, True
        said = session.experiment.status == "error"  # then the experiment's own notice says it
        sentence = "" if said else strings(session.language)("experiment.broken")
        _post_failure(session.name, sentence, session.post)


def _publish(session: Session) -> None:
    """Send what changed: figures, words, then the state that tells of them, then the answer."""
    experiment = session.experiment
    changes = session.built.changes
    if experiment.shown and session.touched:
        # The page shows another state: what that one touched and this one did not must go back.
        changes.again(session.touched)
        session.touched = []
    if changes.events:
        session.send("patch", patch=changes.patch())
    parts = experiment.parts()
    changed = {part: html for part, html in parts.items() if session.sent_parts.get(part) != html}
    if changed:
        session.sent_parts = dict(parts)
        session.send("parts", parts=changed)
    done, total = experiment.progress or (0, 0)
    state = {
        "seq": session.seq,
        "status": "error" if session.failed else experiment.status,
        "done": done,
        "total": total,
        "shown": dict(experiment.shown),
    }
    if state != session.sent_state:
        session.sent_state = state
        session.send("state", **state)
    waited_for = session.unanswered is not None
    if waited_for and (not session.working or experiment.shown == experiment.state()):
        session.send("answer", seq=session.unanswered)
        session.unanswered = None
    if session.exporting and (experiment.settled or not session.working):
        session.send("exported", files=export.files(experiment))
        session.exporting = False


def _post_failure(session: str, sentence: str, post: Post) -> None:
    """Tell the page: a sentence for the reader (or none), a traceback for the console."""
    message = {
        "type": "error",
        "session": session,
        "message": sentence,
        "detail": traceback.format_exc(),
    }
    post(json.dumps(message, ensure_ascii=False))
