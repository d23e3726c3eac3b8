"""Serves a built site on this machine, as a plain static host does: right types, nothing stale."""

from __future__ import annotations

import gzip
import hashlib
import os
import posixpath
import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

HOST = "127.0.0.1"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".woff": "font/woff",
    ".ttf": "font/ttf",
}
COMPRESSED = ("text/", "application/json", "image/svg")  # as static hosts do


class Server(ThreadingHTTPServer):
    """A site behind an address: `base` is the path it stands at, `headers` go with every answer."""

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # there it would let two servers share a port

    def __init__(
        self, site: Path, base: str = "/", port: int = 0, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__((HOST, port), Handler)
        self.site, self.base, self.headers = site, base, dict(headers or {})

    @property
    def address(self) -> str:
        """Where the front page is."""
        return f"http://{HOST}:{self.server_address[1]}{self.base}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader who leaves in mid-answer is no fault."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def listen(site: Path, base: str, port: int, headers: Mapping[str, str] | None = None) -> Server:
    """A server at the wanted port, or at a free one if that is taken."""
    try:
        return Server(site, base, port, headers)
    except OSError:
        return Server(site, base, 0, headers)


class Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD from the site's folder."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.answer(body=True)

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def answer(self, body: bool) -> None:
        """Send what the address names, or say that it has not changed or that there is none."""
        path = urlsplit(self.path).path
        if path in ("/", self.server.base[:-1]) and path != self.server.base:
            return self.redirect(self.server.base)
        file = self.find(path)
        if file is not None and file.is_dir():
            if not path.endswith("/"):
                return self.redirect(f"{path}/")
            file = file / "index.html"
        if file is None or not file.is_file():
            return self.missing(body)
        return self.send(200, file, body)

    def find(self, path: str) -> Path | None:
        """The file or folder below the site that a path names; None for anything outside."""
        if not path.startswith(self.server.base):
            return None
        inside = posixpath.normpath(unquote(path[len(self.server.base) :]))
        if inside.startswith(("/", "..")) or "\\" in inside or "\0" in inside:
            return None
        return self.server.site / inside

    def send(self, status: int, file: Path, body: bool) -> None:
        """Send a file, compressed if it is text, or has its brotli beside it, and that is taken."""
        kind = TYPES.get(file.suffix, "application/octet-stream")
        taken = self.headers.get("Accept-Encoding", "")
        beside = file.with_name(f"{file.name}.br")
        encoding = None
        if re.search(r"\bbr\b", taken) and beside.is_file():
            file, encoding = beside, "br"
        elif kind.startswith(COMPRESSED) and "gzip" in taken:
            encoding = "gzip"
        content, tag = read(file, file.stat().st_mtime_ns, encoding == "gzip")
        fresh = status == 200 and self.headers.get("If-None-Match") == tag
        self.send_response(304 if fresh else status)
        self.send_header("ETag", tag)
        self.send_header("Cache-Control", "no-cache")  # ask each time: a rebuilt file shows at once
        self.send_header("Vary", "Accept-Encoding")
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        if not fresh:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            if encoding:
                self.send_header("Content-Encoding", encoding)
        self.end_headers()
        if body and not fresh:
            self.wfile.write(content)

    def missing(self, body: bool) -> None:
        """The site's own page for an address that is not there."""
        page = self.server.site / "404.html"
        if page.is_file():
            self.send(404, page, body)
        else:
            self.send_error(404)

    def redirect(self, path: str) -> None:
        query = urlsplit(self.path).query
        self.send_response(302)
        self.send_header("Location", f"{path}?{query}" if query else path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Print nothing: the terminal is for what the author must know."""


@lru_cache(maxsize=256)
def read(file: Path, changed: int, packed: bool) -> tuple[bytes, str]:
    """A file's content as it is sent, and its tag; `changed` makes a rebuilt file a new one."""
    content = file.read_bytes()
    if packed:
        content = gzip.compress(content, 6, mtime=0)
    return content, f'"{hashlib.sha256(content).hexdigest()[:20]}"'
