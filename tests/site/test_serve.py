"""The server: types that browsers need, nothing stale, nothing outside the site."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest

from app.site.serve import HOST, Server, listen


@pytest.fixture
def site(tmp_path: Path) -> Path:
    root = tmp_path / "site"
    (root / "en").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("not for readers")
    for name, content in {
        "index.html": "<p>front</p>", "404.html": "<p>not here</p>", "en/index.html": "<p>en</p>",
        "a.js": "export {};" * 100, "b.mjs": "", "c.css": "", "d.json": "{}", "e.wasm": "\0asm",
        "f.gz.bin": "packed", "g.svg": "<svg/>", "h.txt": "", "i.woff2": "",
    }.items():  # fmt: skip
        (root / name).write_text(content)
    return root


@pytest.fixture
def start() -> Iterator[Callable[..., Server]]:
    running: list[tuple[Server, threading.Thread]] = []

    def go(site: Path, base: str = "/", port: int = 0, **headers: str) -> Server:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        server = listen(site, base, port, named)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        running.append((server, thread))
        return server

    yield go
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()


def get(
    server: Server, path: str, method: str = "GET", **headers: str
) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection(HOST, server.server_address[1], timeout=10)
    connection.request(
        method, path, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/en/", "text/html; charset=utf-8"),
        ("/a.js", "text/javascript; charset=utf-8"),
        ("/b.mjs", "text/javascript; charset=utf-8"),
        ("/c.css", "text/css; charset=utf-8"),
        ("/d.json", "application/json"),
        ("/e.wasm", "application/wasm"),
        ("/f.gz.bin", "application/octet-stream"),
        ("/g.svg", "image/svg+xml"),
        ("/i.woff2", "font/woff2"),
    ],
)
def test_files_have_their_types(
    site: Path, start: Callable[..., Server], path: str, kind: str
) -> None:
    answer, _ = get(start(site), path)
    assert (answer.status, answer.headers["Content-Type"]) == (200, kind)


def test_what_has_its_brotli_beside_it_is_sent_so_to_whoever_takes_that(
    site: Path, start: Callable[..., Server]
) -> None:
    (site / "f.gz.bin.br").write_text("less")
    server = start(site)
    answer, body = get(server, "/f.gz.bin", Accept_Encoding="gzip, br")
    assert (answer.headers["Content-Encoding"], body) == ("br", b"less")
    assert answer.headers["Content-Type"] == "application/octet-stream"
    answer, body = get(server, "/f.gz.bin", Accept_Encoding="gzip")
    assert (answer.headers["Content-Encoding"], body) == (None, b"packed")


def test_text_travels_compressed_and_packed_files_as_they_are(
    site: Path, start: Callable[..., Server]
) -> None:
    server = start(site)
    answer, body = get(server, "/a.js", Accept_Encoding="gzip, br")
    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(body) == (site / "a.js").read_bytes()
    assert len(body) == int(answer.headers["Content-Length"])
    answer, body = get(server, "/f.gz.bin", Accept_Encoding="gzip")
    assert answer.headers["Content-Encoding"] is None
    assert body == b"packed"


def test_an_unchanged_file_is_not_sent_twice_and_a_rebuilt_one_shows(
    site: Path, start: Callable[..., Server]
) -> None:
    server = start(site)
    first, _ = get(server, "/")
    again, body = get(server, "/", If_None_Match=first.headers["ETag"])
    assert (again.status, body) == (304, b"")
    assert first.headers["Cache-Control"] == "no-cache"
    (site / "index.html").write_text("<p>other</p>")
    os.utime(site / "index.html", ns=(1, 1))
    rebuilt, body = get(server, "/", If_None_Match=first.headers["ETag"])
    assert (rebuilt.status, body) == (200, b"<p>other</p>")


def test_a_missing_address_gets_the_sites_own_page(
    site: Path, start: Callable[..., Server]
) -> None:
    answer, body = get(start(site), "/nowhere/")
    assert (answer.status, body) == (404, b"<p>not here</p>")


@pytest.mark.parametrize(
    "path",
    ["/../secret.txt", "/en/../../secret.txt", "/%2e%2e/secret.txt", "//etc/passwd", "/a%00"],
)
def test_nothing_outside_the_site_is_served(
    site: Path, start: Callable[..., Server], path: str
) -> None:
    answer, body = get(start(site), path)
    assert answer.status == 404
    assert b"readers" not in body


def test_a_folder_without_its_slash_leads_to_the_one_with_it(
    site: Path, start: Callable[..., Server]
) -> None:
    answer, _ = get(start(site), "/en?depth=3")
    assert (answer.status, answer.headers["Location"]) == (302, "/en/?depth=3")


def test_a_site_stands_below_its_base_only(site: Path, start: Callable[..., Server]) -> None:
    server = start(site, "/courses/norm/")
    assert server.address.endswith("/courses/norm/")
    assert get(server, "/courses/norm/en/")[1] == b"<p>en</p>"
    for path in ("/en/", "/cour", "/courses/"):
        assert get(server, path)[0].status == 404
    for path in ("/", "/courses/norm"):
        assert get(server, path)[0].headers["Location"] == "/courses/norm/"


def test_a_taken_port_gives_way_to_a_free_one(site: Path, start: Callable[..., Server]) -> None:
    first = start(site)
    second = start(site, port=first.server_address[1])
    assert second.server_address[1] != first.server_address[1]
    assert get(second, "/")[0].status == 200


def test_a_head_has_no_body_and_given_headers_go_with_every_answer(
    site: Path, start: Callable[..., Server]
) -> None:
    server = start(site, Content_Security_Policy="default-src 'self'")
    for path in ("/", "/nowhere"):
        answer, body = get(server, path, "HEAD")
        assert body == b""
        assert answer.headers["Content-Security-Policy"] == "default-src 'self'"
