"""The server that counts, and the answers to what a converted page asks of other hosts."""

from __future__ import annotations

import gzip
import json
import socket
import zipfile
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app.site.environment import Failure
from bench import harness
from bench.stock.foreign import Foreign, plain


def ask(address: str, path: str, host: str = "127.0.0.1", *headers: str) -> bytes:
    """Everything that comes over the wire for one request."""
    where = urlsplit(address)
    with socket.create_connection((where.hostname, where.port), timeout=10) as wire:
        head = [f"GET {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers]
        wire.sendall("\r\n".join([*head, "", ""]).encode())
        return b"".join(iter(lambda: wire.recv(65536), b""))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text("<p>a page</p>" * 100)
    (tmp_path / "packed.bin").write_bytes(bytes(1000))
    return tmp_path


def test_every_byte_sent_is_counted(site: Path) -> None:
    with harness.serve(site) as (address, traffic):
        sent = ask(address, "/") + ask(address, "/packed.bin") + ask(address, "/missing")
    assert traffic.bytes == len(sent)
    assert [entry.split()[0] for entry in traffic.paths] == ["200", "200", "404"]


def test_text_travels_compressed_and_packed_files_as_they_are(site: Path) -> None:
    with harness.serve(site) as (address, _):
        page = ask(address, "/").partition(b"\r\n\r\n")
        packed = ask(address, "/packed.bin").partition(b"\r\n\r\n")
    assert b"Content-Encoding: gzip" in page[0]
    assert gzip.decompress(page[2]) == (site / "index.html").read_bytes()
    assert b"Content-Encoding" not in packed[0]
    assert packed[2] == bytes(1000)


def test_a_bench_s_own_file_is_served_in_place_of_the_site_s(site: Path) -> None:
    with harness.serve(site, instead={"packed.bin": b"ours", "more/new.bin": b"too"}) as (to, _):
        bodies = [
            ask(to, path).partition(b"\r\n\r\n")[2] for path in ("/packed.bin", "/more/new.bin")
        ]
    assert bodies == [b"ours", b"too"]


def test_a_file_the_browser_has_is_not_sent_again(site: Path) -> None:
    with harness.serve(site) as (address, _):
        first = ask(address, "/").decode("latin-1")
        tag = next(x for x in first.split("\r\n") if x.startswith("ETag: ")).removeprefix("ETag: ")
        again = ask(address, "/", "127.0.0.1", f"If-None-Match: {tag}")
    assert again.startswith(b"HTTP/1.1 304")
    assert again.endswith(b"\r\n\r\n")


def test_what_no_local_copy_answers_is_refused_and_named(site: Path) -> None:
    with harness.serve(site) as (address, traffic):
        assert ask(address, "/index.html", "elsewhere.test").startswith(b"HTTP/1.1 404")
    assert traffic.refused == ["elsewhere.test/index.html"]


def test_nothing_outside_the_folder_is_served(site: Path) -> None:
    (site / "inside").mkdir()
    with harness.serve(site / "inside") as (address, _):
        assert ask(address, "/../packed.bin").startswith(b"HTTP/1.1 404")


def test_addresses_lose_their_tls_and_name_no_real_host() -> None:
    assert plain(b'"https://a.example.org/x.js"') == b'"http://a.example.org.test/x.js"'


@pytest.fixture
def foreign(tmp_path: Path) -> Foreign:
    """With a lock that knows one package, which is installed but not in the runtime's folder."""
    names = {"jinja2": "jinja2-3.1.0-py3-none-any.whl", "micropip": "micropip-0.1-py3-none-any.whl"}
    packages = {
        name: {"name": name, "file_name": file, "depends": [], "sha256": "0" * 64}
        for name, file in names.items()
    }
    (tmp_path / "pyodide-lock.json").write_text(json.dumps({"packages": packages}))
    return Foreign(tmp_path)


def test_a_stand_in_has_the_hash_that_the_adjusted_lock_names(foreign: Foreign) -> None:
    locked = foreign("cdn.test", "/v1/full/pyodide-lock.json")
    wheel = foreign("cdn.test", "/v1/full/jinja2-3.1.0-py3-none-any.whl")
    assert locked is not None
    assert wheel is not None
    pinned = json.loads(gzip.decompress(locked.body))["packages"]["jinja2"]["sha256"]
    assert sha256(wheel.body).hexdigest() == pinned
    assert foreign.stand_ins == {"jinja2-3.1.0-py3-none-any.whl"}
    assert "jinja2/environment.py" in zipfile.ZipFile(BytesIO(wheel.body)).namelist()


def test_an_index_offers_the_installed_version_under_its_hash(foreign: Foreign) -> None:
    index = foreign("index.test", "/simple/param/")
    assert index is not None
    (file,) = json.loads(gzip.decompress(index.body))["files"]
    wheel = foreign("files.test", urlsplit(file["url"]).path)
    assert wheel is not None
    assert sha256(wheel.body).hexdigest() == file["hashes"]["sha256"]
    assert foreign("index.test", "/simple/unheard-of/") is None


def test_a_site_without_lessons_is_said_to_be_none(site: Path) -> None:
    with pytest.raises(Failure, match="no built lesson in"):
        harness.has_lessons(site)
