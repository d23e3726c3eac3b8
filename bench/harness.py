"""What the measurements share: a counting server, a fresh browser, medians, the report.

Every bench measures both sides in one run, alternating, because only ratios within one run count.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import mimetypes
import os
import platform
import statistics
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, CDPSession, Error, Page, sync_playwright

from app.site import browser as browsers
from app.site.environment import Failure

ROOT = Path(__file__).resolve().parent.parent

LESSON = "en/warmup/"
EMBED = f"{LESSON}embed/?show=sensitivity"  # one experiment, the one that stock's page has, too
PATIENCE = 120.0  # seconds: a page that does not get there by then has failed

# What content delivery networks and GitHub Pages compress on the way; the rest goes as it is.
COMPRESSED = {"html", "htm", "js", "mjs", "css", "json", "svg", "wasm", "txt", "map", "metadata"}
TYPES = {"js": "text/javascript", "mjs": "text/javascript", "wasm": "application/wasm"}
AT_REST = 1500  # milliseconds; for half a second a new browser keeps one processor busy by itself
OWN_CACHING = "public, max-age=600"  # as GitHub Pages sends it
FOREIGN_CACHING = "public, max-age=31536000, immutable"  # as delivery networks do at best

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,NetworkTimeServiceQuerying",
]


def parser(bench: str, about: str, repeats: int = 0, what: str = "") -> argparse.ArgumentParser:
    """The options of a bench on the built site, to which it adds its own; `about`: its docstring.

    `what` is repeated `repeats` times if the reader says nothing else; 0: nothing is.
    """
    common = argparse.ArgumentParser(prog=f"bench {bench}", description=about.split("\n\n")[0])
    if repeats:
        common.add_argument("--repeats", type=int, default=repeats, help=what)
    common.add_argument("--site", type=Path, default=ROOT / "site", help="the built site")
    common.add_argument("--browser", help="a Chromium's program; found if not given")
    return common


def program(options: argparse.Namespace) -> str:
    """The Chromium that the options name, or one that is found. Raises Failure without any."""
    return str(options.browser or browsers.ensure())


def has_lessons(site: Path) -> None:
    """Raises Failure when no lesson has been built there."""
    if not (site / LESSON / "embed").is_dir():
        raise Failure(f"There is no built lesson in {site}; run build.py build first.")


@dataclass(frozen=True)
class Answer:
    """One file as it goes over the wire."""

    body: bytes
    kind: str
    encoding: str | None

    @cached_property
    def tag(self) -> str:
        """As servers have it: worked out once, not for each visit that is measured."""
        return f'"{sha256(self.body).hexdigest()[:16]}"'

    @classmethod
    def of(
        cls, content: bytes, name: str, kind: str | None = None, brotli: bytes | None = None
    ) -> Answer:
        """`content`, compressed (gzip, level 9) where its file name says that servers would, or as
        the `brotli` that lies beside it."""
        suffix = name.rpartition(".")[2]
        kind = kind or TYPES.get(suffix) or mimetypes.guess_type(name)[0]
        kind = kind or "application/octet-stream"
        if brotli is not None:
            return cls(brotli, kind, "br")
        if suffix in COMPRESSED:
            return cls(gzip.compress(content, 9, mtime=0), kind, "gzip")
        return cls(content, kind, None)


Foreign = Callable[[str, str], "Answer | None"]


@dataclass
class Traffic:
    """What went over the wire since the last `reset`: bytes of answers, with their headers."""

    bytes: int = 0
    paths: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def reset(self) -> None:
        self.bytes, self.paths, self.refused = 0, [], []


@contextlib.contextmanager
def serve(
    folder: Path,
    foreign: Foreign | None = None,
    withheld: Collection[str] = (),
    instead: Mapping[str, bytes] | None = None,
) -> Iterator[tuple[str, Traffic]]:
    """Serves `folder` on 127.0.0.1, and answers requests for any other host from `foreign`.

    Files named in `withheld` are missing; of `instead`, by path, the content is served, whether the
    folder has such a file or not.

    Yields the address and the traffic's counters. The browser of `browser` sends every request
    here, whatever host it names, so nothing leaves the machine; what `foreign` does not know
    (or everything foreign, without it) is refused with 404 and listed.
    """
    traffic, lock = Traffic(), threading.Lock()
    root = folder.resolve()
    answers: dict[tuple[str, str], Answer | None] = {}

    def own(path: str) -> Answer | None:
        file = (root / path.lstrip("/")).resolve()
        if instead and path.lstrip("/") in instead:
            return Answer.of(instead[path.lstrip("/")], file.name)
        if file.is_dir():
            file /= "index.html"
        if not file.is_relative_to(root) or not file.is_file() or file.name in withheld:
            return None
        beside = file.with_name(f"{file.name}.br")
        brotli = beside.read_bytes() if beside.is_file() else None
        return Answer.of(file.read_bytes(), file.name, brotli=brotli)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # header and body leave together

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            host = (self.headers["Host"] or "").partition(":")[0]
            at_home = host == "127.0.0.1"
            key = ("" if at_home else host, path)
            with lock:
                if key not in answers:
                    answers[key] = own(path) if at_home else foreign and foreign(host, path)
            answer = answers[key]
            body = answer.body if answer else b""
            status = 404 if answer is None else 200
            if answer and self.headers["If-None-Match"] == answer.tag:
                status, body = 304, b""
            head = [f"HTTP/1.1 {status} -", f"Content-Length: {len(body)}"]
            if answer:
                head += [f"ETag: {answer.tag}", f"Content-Type: {answer.kind}"]
                head += [f"Cache-Control: {OWN_CACHING if at_home else FOREIGN_CACHING}"]
                head += [f"Content-Encoding: {answer.encoding}"] if answer.encoding else []
            if not at_home:
                head += ["Access-Control-Allow-Origin: *"]
            message = "\r\n".join(head).encode() + b"\r\n\r\n" + body
            with lock:
                traffic.bytes += len(message)
                traffic.paths.append(f"{status} {key[0]}{path} {len(message)}")
                if answer is None:
                    traffic.refused += [] if at_home else [f"{host}{path}"]
            with contextlib.suppress(ConnectionError):
                self.wfile.write(message)

        def do_OPTIONS(self) -> None:
            """A delivery network's preflight answer: everything may be asked for."""
            self.send_response(204)
            for name in ("Origin", "Headers", "Methods"):
                self.send_header(f"Access-Control-Allow-{name}", "*")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Silent: the counters say what there is to say."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A browser that closes a page drops its connections: nothing to report."""
            if not isinstance(sys.exc_info()[1], ConnectionError):
                super().handle_error(request, client_address)

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", traffic
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def browser(executable: str, address: str) -> Iterator[BrowserContext]:
    """A Chromium with an empty profile, on disk as a reader's is, that knows one server only.

    Every host name leads to the server at `address`. The driver intercepts nothing: that would
    switch the browser's cache off and send megabytes through the driver's pipe.
    """
    server = address.removeprefix("http://").rstrip("/")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, sync_playwright() as p:
        context = p.chromium.launch_persistent_context(
            profile,
            executable_path=executable,
            headless=True,
            # Tall enough that no figure waits to be scrolled to.
            viewport={"width": 1280, "height": 2400},
            args=[*CHROMIUM_FLAGS, f"--host-resolver-rules=MAP * {server}"],
        )
        try:
            yield context
        finally:
            context.close()


def page(context: BrowserContext, *scripts: Path) -> Page:
    """A new tab that runs `scripts` before a page's own, in a browser that has come to rest.

    Neither the browser's own start nor the end of another page is part of what is measured.
    """
    tab = context.new_page()
    for script in scripts:
        tab.add_init_script(path=script)
    tab.wait_for_timeout(AT_REST)
    return tab


def wait(session: CDPSession, condition: str, every: int = 0, patience: float = PATIENCE) -> None:
    """Until `condition` holds in the session's page, which looks at each frame, or each so many
    milliseconds.

    The page is asked once and answers when it is time. The driver's own wait has it compile 330 kB
    of script, amid its start. Raises Error when it takes longer than `patience`, in seconds, and
    when another page comes in its place.
    """
    again = f"setTimeout(look, {every})" if every else "requestAnimationFrame(look)"
    expression = f"""new Promise((resolve, reject) => {{
      const end = performance.now() + {1000 * patience};
      const look = () => {{
        try {{
          if ({condition}) resolve(true);
          else if (performance.now() > end) resolve(false);
          else {again};
        }} catch (error) {{
          reject(error);
        }}
      }};
      look();
    }})"""
    asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
    answer = session.send("Runtime.evaluate", asked)
    if "exceptionDetails" in answer:
        thrown = answer["exceptionDetails"].get("exception", {}).get("description", "it threw")
        raise Error(f"{condition}: {thrown}")
    if not answer["result"]["value"]:
        raise Error(f"{condition}: not within {patience:g} seconds")


def processes() -> Iterator[tuple[Path, str]]:
    """The processes below this one: each one's folder in /proc, and its command. Linux only."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
    for process in parents:
        above = process
        while above in parents and above != os.getpid():
            above = parents[above]
        folder = Path(f"/proc/{process}")
        if above == os.getpid():
            with contextlib.suppress(OSError):
                yield folder, (folder / "cmdline").read_bytes().decode().replace("\0", " ")


def machine() -> str:
    """The machine in one line, for the report."""
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((x.split(": ")[1] for x in lines if x.startswith("model name")), model)
    load = " ".join(f"{x:.1f}" for x in os.getloadavg()) if hasattr(os, "getloadavg") else "?"
    system = f"{platform.system()} {platform.release()}"
    return f"{os.cpu_count()} × {model}, {system}, load {load}"


def medians(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The median of every measure over the repeats."""
    return {key: round(statistics.median(row[key] for row in rows), 4) for key in rows[0]}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned text: the first column to the left, figures to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = []
    for row in [head, *rows]:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def report(bench: str, ratios: Mapping[str, float | None], **more: object) -> None:
    """The last line of every bench: one JSON object."""
    print(json.dumps({"bench": bench, "ratios": dict(ratios), **more}, ensure_ascii=False))
