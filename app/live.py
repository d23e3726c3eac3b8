"""Experiments as sessions: builds an experiment's document, applies what the page changes, sends what Python changes.

Pure Python: the same code runs in the browser's worker, in the build (which stores the documents it makes)
and in the tests. Control values travel as option texts, both ways; everything else that Python changes travels
as Bokeh patches, which fire no handler on the page.
"""

from __future__ import annotations

import hashlib
import json
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

import bokeh.util.serialization
import numpy
from bokeh.core.serialization import Serializer
from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent, ModelChangedEvent
from bokeh.document.json import PatchJson

IN_BROWSER = "_pyodide" in sys.modules
if IN_BROWSER:
    # Panel, when it sees Pyodide, imports its own link between page and worker, which evaluates JS from a
    # string (a strict policy forbids it), patches `requests` and names style sheets by a CDN's address. The
    # link here is this module; of the other one Panel itself needs only the name `serve`.
    _link = ModuleType("panel.io.pyodide")
    _link.serve = None  # type: ignore[attr-defined]
    sys.modules["panel.io.pyodide"] = _link

from app.experiments import EXPERIMENTS
from app.ui.strings import strings

if TYPE_CHECKING:
    from app.experiments.experiment import Experiment

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
    digest: str
    """Over place, type and id of every model, as built: equal digests mean that the models can be linked."""

    @property
    def json(self) -> dict[str, Any]:
        """The document as it is now, arrays inline."""
        return self.document.to_json(deferred=False)  # type: ignore[return-value]

    def stored(self) -> dict[str, Any]:
        """What a page stores, and what a page is sent whose own document differs."""
        return {"document": self.json, "roots": self.roots, "digest": self.digest}


def fresh(name: str, language: str) -> tuple[Experiment, Built]:
    """A new experiment and its document, with the same model ids wherever and whenever it is made.

    Raises KeyError when there is no experiment of that name.
    """
    # Bokeh counts models from one counter per process. Documents may well hold equal ids: they are told
    # apart by document.
    bokeh.util.serialization._simple_id = FIRST_ID
    experiment = EXPERIMENTS[name](language)
    return experiment, build_document(experiment)


def build_document(experiment: Experiment) -> Built:
    """One Bokeh document with the experiment's models as its roots, in the experiment's order."""
    document = Document()
    roots = {}
    for slot, model in experiment.roots().items():
        document.add_root(model)
        roots[slot] = model.id
    return Built(document, roots, digest(document.to_json(deferred=False)))


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
    events: list[DocumentPatchedEvent] = field(default_factory=list)

    def send(self, type: str, **content: Any) -> None:
        self.post(json.dumps({"type": type, "session": self.name, **content}, ensure_ascii=False))


_sessions: dict[str, Session] = {}
_order: list[str] = []  # names; the session in front, whose slices come first, is the first


def open(session: str, name: str, language: str, state: str, digest: str, post: Post) -> None:
    """Begin a session: an experiment `name` that shows `state` (JSON: option → text).

    When the page's `digest` is another one than the document's, the document is sent along.
    """
    close(session)
    try:
        experiment, built = fresh(name, language)
        if IN_BROWSER:
            experiment.where = strings(language)("live.where", numpy=NUMPY)
        opened = Session(session, language, experiment, built, post)
        built.document.callbacks.on_change(_recorder(opened))
        experiment.set(json.loads(state))
    except Exception:  # noqa: BLE001  whatever went wrong, the page must hear of it
        _post_failure(session, strings(language)("experiment.broken"), post)
        return
    stored = None if digest == built.digest else json.dumps(built.stored())
    opened.events.clear()  # a document sent just now holds what was set; a linked one gets control values as texts
    opened.send("opened", digest=built.digest, state=experiment.state(), stored=stored)
    _sessions[session] = opened
    _order.append(session)
    _publish(opened)


def receive(session: str, message: str) -> None:
    """Take a message of the page: `set` (new option values), `press` (a button), `close`."""
    content = json.loads(message)
    if content["type"] == "close":
        close(session)
        return
    opened = _sessions.get(session)
    if opened is None:
        return  # closed meanwhile: the page asks no more
    _order.remove(session)
    _order.insert(0, session)
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
        opened.send("answer", seq=opened.seq)  # a press is heard at once; a set is answered by what it shows


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


class _guarded:
    """An error inside ends the session's work, not the session."""

    def __init__(self, session: Session):
        self.session = session

    def __enter__(self) -> None:
        self.session.built.document.hold("combine")

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        self.session.built.document.unhold()
        if not isinstance(error, Exception):
            return False
        self.session.working, self.session.failed = False, True
        said = self.session.experiment.status == "error"  # then the experiment's own notice says it
        sentence = "" if said else strings(self.session.language)("experiment.broken")
        _post_failure(self.session.name, sentence, self.session.post)
        return True


def _publish(session: Session) -> None:
    """Send what changed: figures first, then words, then the state that says so, then the answer."""
    experiment = session.experiment
    if session.events:
        session.send("patch", patch=_patch(session))
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
    if session.unanswered is not None and (
        not session.working or experiment.shown == experiment.state()
    ):
        session.send("answer", seq=session.unanswered)
        session.unanswered = None


def _recorder(session: Session) -> Callable[[Any], None]:
    """Collects what Python changes in the document, except the values of controls."""
    values = {
        (model.id, tag["normlab"]["property"])
        for model in session.built.document.roots
        for tag in model.tags
        if isinstance(tag, dict) and "property" in tag.get("normlab", {})
    }

    def record(event: Any) -> None:
        if isinstance(event, ModelChangedEvent) and (event.model.id, event.attr) in values:
            return
        if isinstance(event, DocumentPatchedEvent):
            session.events.append(event)

    return record


def _patch(session: Session) -> str:
    """The recorded events as JSON of one Bokeh patch, arrays inline."""
    models = session.built.document.models
    serializer = Serializer(references=models.synced_references, deferred=False)
    patch = PatchJson(events=serializer.encode(session.events))
    session.events.clear()
    models.flush_synced(lambda model: not serializer.has_ref(model))
    return json.dumps(patch)


def _post_failure(session: str, sentence: str, post: Post) -> None:
    """Tell the page: a sentence for the reader (or none), a traceback for the console."""
    message = {
        "type": "error",
        "session": session,
        "message": sentence,
        "detail": traceback.format_exc(),
    }
    post(json.dumps(message, ensure_ascii=False))
