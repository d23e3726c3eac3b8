"""What lies beside the files for hosts that serve brotli."""

from __future__ import annotations

import gzip
import os
import subprocess
from pathlib import Path

import pytest

from app.site import brotli, packing
from app.site.environment import Failure
from app.site.node import node

DECOMPRESS = """
const { readFileSync } = require("node:fs");
process.stdout.write(require("node:zlib").brotliDecompressSync(readFileSync(process.argv[1])));
"""


def undone(file: Path) -> bytes:
    return subprocess.run(
        [str(node()), "-e", DECOMPRESS, str(file)], check=True, capture_output=True
    ).stdout


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A packed file that repeats itself farther away than gzip looks, a text, and small fry."""
    root = tmp_path / "site"
    (root / "runtime").mkdir(parents=True)
    (root / "runtime" / "packs.gz.bin").write_bytes(packing.gzip(os.urandom(60_000) * 3))
    (root / "index.html").write_text("<p>Where does LayerNorm go?</p>\n" * 100)
    (root / "small.js").write_text("1;")
    (root / "icon.png").write_bytes(os.urandom(2000))
    return root


def test_a_packed_file_is_compressed_anew_and_still_a_pack(site: Path, tmp_path: Path) -> None:
    pack = site / "runtime" / "packs.gz.bin"
    brotli.beside(site, tmp_path / "cache")
    beside = pack.with_name("packs.gz.bin.br")
    assert beside.stat().st_size < pack.stat().st_size / 2
    received = undone(beside)
    assert received == packing.loose(pack.read_bytes())
    assert gzip.decompress(received) == gzip.decompress(pack.read_bytes())


def test_texts_are_compressed_and_nothing_that_cannot_become_smaller(
    site: Path, tmp_path: Path
) -> None:
    brotli.beside(site, tmp_path / "cache")
    assert undone(site / "index.html.br") == (site / "index.html").read_bytes()
    found = sorted(path.name for path in site.rglob("*.br"))
    assert found == ["index.html.br", "packs.gz.bin.br"]


def test_a_second_build_takes_it_from_the_cache(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brotli.beside(site, tmp_path / "cache")
    first = (site / "index.html.br").read_bytes()
    (site / "index.html.br").unlink()
    (site / "runtime" / "packs.gz.bin.br").unlink()
    monkeypatch.setattr(brotli, "compress", None)  # would fail
    brotli.beside(site, tmp_path / "cache")
    assert (site / "index.html.br").read_bytes() == first


def test_what_cannot_be_compressed_is_named(site: Path, tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"^index\.html could not be compressed"):
        brotli.compress(site / "index.html", tmp_path / "no" / "such" / "folder")
