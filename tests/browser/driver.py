"""What the browser tests share: a host that can fail, and a lesson page as a reader handles it.

Nothing here waits for a time to pass: pages are waited for by their `data-*` attributes.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, expect

from app.site.serve import Handler, Server

POLICY = "script-src 'self' 'wasm-unsafe-eval'"
PATIENCE = 120_000
"""Milliseconds; far more than anything takes, so that a busy machine fails nothing."""
FEW = "?sensitivity.seeds=4"
"""A state that is computed in a second instead of several."""

Fault = Callable[[bytes], bytes | None]
"""Makes of a file's content what is sent; None: the file is missing."""


class Host(Server):
    """The built site under a strict policy; single files can be spoiled or held back."""

    def __init__(self, site: Path, base: str = "/") -> None:
        super().__init__(site, base, headers={"Content-Security-Policy": POLICY})
        self.RequestHandlerClass = _Spoiling
        self.faults: dict[str, Fault] = {}
        self.held: dict[str, threading.Event] = {}
        self.asked: list[str] = []
        self.pace: float | None = None
        """Bytes per second that the line carries, all files together; None: as many as may be."""
        self.line = threading.Lock()

    def hold(self, name: str) -> threading.Event:
        """Keep a file back until the event that is returned is set."""
        self.held[name] = threading.Event()
        return self.held[name]


class _Spoiling(Handler):
    server: Host

    def setup(self) -> None:
        super().setup()
        self.wfile = _Line(self.wfile, self.server)  # type: ignore[assignment]

    def send(self, status: int, file: Path, body: bool) -> None:
        self.server.asked.append(file.name)
        if file.name in self.server.held:
            self.server.held[file.name].wait(PATIENCE / 1000)
        fault = self.server.faults.get(file.name)
        if fault is None:
            super().send(status, file, body)
            return
        content = fault(file.read_bytes())
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Type", _type_of(file))
        self.send_header("Content-Length", str(len(content or b"")))
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content or b"")


class _Line:
    """What a connection is written to; slow where its host's line is."""

    def __init__(self, wire: BinaryIO, host: Host) -> None:
        self.wire, self.host = wire, host

    def write(self, content: bytes) -> None:
        while self.host.pace and content:
            piece, content = content[:8192], content[8192:]
            with self.host.line:
                self.wire.write(piece)
                time.sleep(len(piece) / self.host.pace)
        self.wire.write(content)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wire, name)


def _type_of(file: Path) -> str:
    return {".js": "text/javascript", ".json": "application/json", ".html": "text/html"}.get(
        file.suffix, "application/octet-stream"
    )


def missing(_: bytes) -> None:
    return None


def truncated(content: bytes) -> bytes:
    """Ends in the middle, as after a connection that broke and a proxy that kept the rest."""
    return content[: len(content) // 2]


def damaged(content: bytes) -> bytes:
    """As long as before, with other bytes in the middle."""
    middle = len(content) // 2
    return (
        content[:middle]
        + bytes(byte ^ 0xFF for byte in content[middle : middle + 64])
        + content[middle + 64 :]
    )


# What Chromium asks for by itself, whatever page it shows. Would a page ask for one of these,
# Playwright would still report it.
CHROMIUMS_OWN = re.compile(
    r"(update|accounts|content-autofill|optimizationguide-pa|clients\d*|clientservices|safebrowsing"
    r"|www|mtalk|android\.clients|redirector|edgedl\.me)\.(googleapis|google|gvt1)\.com"
)


class ForeignHosts(ThreadingHTTPServer):
    """The proxy behind which all other hosts lie: notes what is asked of them, and refuses."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Refusing)
        self.asked: list[str] = []


class _Refusing(BaseHTTPRequestHandler):
    server: ForeignHosts

    def _refuse(self) -> None:
        if not CHROMIUMS_OWN.search(self.path):
            self.server.asked.append(f"{self.command} {self.path}")
        self.send_error(403)

    do_GET = do_POST = do_CONNECT = do_HEAD = do_OPTIONS = _refuse  # noqa: N815

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@dataclass
class Watch:
    """What a page must not do: ask other hosts, write errors or warnings to its console."""

    foreign: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    allowed: tuple[str, ...] = ()
    """Parts of console messages that a test expects, having spoiled something itself."""

    def on(self, context: BrowserContext, *homes: str) -> None:
        def request(request: Request) -> None:
            if not request.url.startswith((*homes, "data:", "blob:", "file:")):
                self.foreign.append(request.url)

        def console(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                self.complaints.append(f"{message.text} ({message.location.get('url', '')})")

        context.on("request", request)
        context.on("console", console)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))

    def unexpected(self) -> list[str]:
        allowed = (*self.allowed, "registration blocked by Playwright")
        return [text for text in self.complaints if not any(part in text for part in allowed)]


class Lesson:
    """A lesson page in a browser, and the one experiment that a test looks at."""

    def __init__(self, page: Page, host: Host, watch: Watch, name: str = "sensitivity") -> None:
        self.page, self.host, self.watch, self.name = page, host, watch, name

    # ------------------------------------------------------------------ opening and waiting

    def open(self, query: str = "", language: str = "en", slug: str = "warmup") -> Lesson:
        address = f"{self.host.address}{language}/{slug}/{query}"
        answer = self.page.goto(address, wait_until="domcontentloaded")
        assert answer is not None
        assert answer.ok, f"{address} answers {answer.status}"
        return self

    def until(self, runtime: str | None = None, **data: str) -> Lesson:
        """Wait until the page's runtime and the section's data attributes are as said."""
        if runtime is not None:
            expect(self.page.locator(f"html[data-runtime={runtime}]")).to_be_attached(
                timeout=PATIENCE
            )
        wanted = "".join(f'[data-{key.replace("_", "-")}="{value}"]' for key, value in data.items())
        if wanted:
            section = self.page.locator(f'section[data-experiment="{self.name}"]{wanted}')
            expect(section).to_be_attached(timeout=PATIENCE)
        return self

    def painted(self) -> Lesson:
        self.section.scroll_into_view_if_needed()
        return self.until(painted="done")

    def ready(self) -> Lesson:
        """Python is up and has answered the newest values."""
        return self.painted().until(runtime="live", state="ready")

    def settled(self) -> Lesson:
        """What the reader did last is answered: newest values shown, nothing under way."""
        self.page.evaluate(
            "() => new Promise(requestAnimationFrame)"
        )  # the hand's event has been heard
        return self.until(state="ready")

    def until_query(self, query: str) -> None:
        """Wait until the address has this query."""
        self.page.wait_for_url(
            lambda url: urlsplit(url).query == query.removeprefix("?"), timeout=PATIENCE
        )

    def part_with(self, name: str, text: str) -> None:
        part = self.section.locator(f'[data-part="{name}"]')
        expect(part).to_contain_text(text, timeout=PATIENCE)

    def restarted(self) -> bool:
        return self.host.asked.count("worker.js") > 1

    # ------------------------------------------------------------------ what a reader sees

    @property
    def config(self) -> dict[str, Any]:
        """What the build wrote for the page's scripts."""
        return dict(json.loads(self.page.locator("#normlab-page").text_content() or ""))

    @property
    def section(self) -> Locator:
        return self.page.locator(f'section[data-experiment="{self.name}"]')

    def data(self, key: str) -> str | None:
        return self.section.get_attribute(f"data-{key}")

    def part(self, name: str) -> str:
        """What a part says as HTML, spaces plain, without the words that a clock writes."""
        html = str(
            self.section.locator(f'[data-part="{name}"]').evaluate(
                """part => {
                  const copy = part.cloneNode(true);
                  copy.querySelectorAll("[data-timing]").forEach((each) => each.remove());
                  return copy.innerHTML;
                }"""
            )
        )
        return html.replace("&nbsp;", " ")

    def words(self, option: str) -> str:
        """An option's value in words, as it stands beside its control."""
        return self.section.locator(f'[data-control="{option}"] [data-value]').inner_text()

    @property
    def query(self) -> str:
        return str(self.page.evaluate("location.search"))

    def state(self) -> Mapping[str, str]:
        """What the controls show."""
        return dict(self._painted("painted.state()"))

    def columns(self, figure: str) -> list[dict[str, list[Any]]]:
        """The columns that every glyph of a figure draws, in order of the glyphs."""
        return list(
            self._painted(
                f"""painted.document.get_model_by_id(stored.roots["figure:{figure}"]).renderers.map(
                  ({{ data_source: {{ data }} }}) => Object.fromEntries(
                    [...(data instanceof Map ? data : Object.entries(data))]
                      .map(([name, column]) => [name, Array.from(column)])
                  )
                )"""
            )
        )

    def drawn(self, figure: str, name: str) -> dict[str, list[Any]]:
        """The columns of the one source of that name."""
        names = self._painted(
            f"""painted.document.get_model_by_id(stored.roots["figure:{figure}"]).renderers
              .map((renderer) => renderer.data_source.name)"""
        )
        return self.columns(figure)[names.index(name)]

    def stored(self) -> dict[str, Any]:
        """What the build wrote into the page for the experiment."""
        return dict(json.loads(self.section.locator("script[data-stored]").text_content() or ""))

    def _painted(self, expression: str) -> Any:
        return self.page.evaluate(
            f"""async () => {{
              const painted = await window.normlab.paint("{self.name}");
              const script = painted.section.querySelector("script[data-stored]");
              const stored = JSON.parse(script.textContent);
              return {expression};
            }}"""
        )

    # ------------------------------------------------------------------ what a reader does

    def handle(self, option: str) -> Locator:
        """A slider's handle."""
        return self.section.locator(f'[data-slot="control:{option}"] [role=slider]')

    def keys(self, option: str, *keys: str) -> None:
        self.handle(option).focus()
        for key in keys:
            self.page.keyboard.press(key)

    def button(self, action: str) -> Locator:
        return self.section.locator(f'[data-slot="button:{action}"] button')

    def press(self, action: str) -> Lesson:
        """Press a button that starts something, and wait until that has begun; a short run may be
        over before a waiting eye would see it running."""
        self.section.evaluate(
            """section => {
              window.begun = new Promise((resolve) => {
                const hear = ({ detail }) => detail.newest && resolve();
                section.addEventListener("normlab:state", hear);
              });
            }"""
        )
        self.button(action).click()
        self.page.evaluate("() => window.begun")
        return self

    def drag(self, option: str, to: float, steps: int) -> None:
        """Drag a slider's handle with the mouse to a share `to` of its track, and let go."""
        handle = self.handle(option)
        handle.scroll_into_view_if_needed()
        track = self.section.locator(f'[data-slot="control:{option}"] .noUi-base').bounding_box()
        at = handle.bounding_box()
        assert track is not None
        assert at is not None
        y = at["y"] + at["height"] / 2
        self.page.mouse.move(at["x"] + at["width"] / 2, y)
        self.page.mouse.down()
        self.page.mouse.move(track["x"] + to * track["width"], y, steps=steps)
        self.page.mouse.up()
