"""The service worker's list is what the build consists of; another list makes another worker."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from app.site import offline, packing
from app.ui.strings import LANGUAGES


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def written(site: Path) -> dict[str, Any]:
    offline.write(site, "assets/aa/", "runtime/bb/", "documents/")
    first, rest = (site / offline.NAME).read_text(encoding="utf-8").split("\n", 1)
    assert rest == (offline.WEB / offline.NAME).read_text(encoding="utf-8")
    return dict(json.loads(first.removeprefix("const SITE = ").removesuffix(";")))


def test_it_knows_every_file_by_its_hash_and_another_build_by_its_version(tmp_path: Path) -> None:
    paths = (
        *("assets/aa/fonts/a.woff2", "assets/aa/page.js", "documents/en/beta.1.js"),
        "runtime/bb/python.gz.bin",
    )
    served = {}
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        content = path.encode()
        served[path] = packing.gzip(content) if path.endswith(packing.PACKED) else content
        (tmp_path / path).write_bytes(served[path])
    (tmp_path / "index.html").write_text("a page is asked for anew each time")
    for language in LANGUAGES:
        (tmp_path / language).mkdir()
        (tmp_path / offline.page(language)).write_text("but for this one")
    first = written(tmp_path)
    assert (first["assets"], first["runtime"]) == ("assets/aa/", "runtime/bb/")
    assert first["files"] == {path: sha256(content) for path, content in served.items()}
    # A host's own compression may leave it packed otherwise.
    assert first["contents"] == {paths[-1]: sha256(paths[-1].encode())}
    assert written(tmp_path) == first
    assert first["offline"] == {language: f"{language}/offline.html" for language in LANGUAGES}
    versions = [first["version"]]
    for path in ("assets/aa/page.js", offline.page("zh-Hant")):
        (tmp_path / path).write_text("other")
        versions.append(written(tmp_path)["version"])
    assert len(set(versions)) == 3
