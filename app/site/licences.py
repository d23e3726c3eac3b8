"""Third-party notices: the licence of everything foreign that a built site ships."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent


def notices(distributions: Sequence[str]) -> str:
    """The text of THIRD_PARTY.txt: name, version, licence text of each part that is shipped."""
    parts = [section(name) for name in ("numpy", *distributions)]
    return "\n".join([(HERE / "notices.txt").read_text(encoding="utf-8"), *parts])


def section(distribution: str) -> str:
    """One distribution's notice, with the licence texts that it carries."""
    found = importlib.metadata.distribution(distribution)
    meta = found.metadata
    licence = _field(meta, "License-Expression") or _field(meta, "License") or _classifier(meta)
    title = f"{meta['Name']} {found.version} — {licence.splitlines()[0]}"
    texts = [
        Path(str(found.locate_file(file))).read_text(encoding="utf-8")
        for file in found.files or ()
        if is_licence(str(file))
    ]
    return "\n".join([title, "=" * len(title), "", *(texts or ["(see the name above)"]), ""])


def is_licence(path: str) -> bool:
    """Whether a path inside a distribution's metadata is a licence text."""
    name = path.rsplit("/", 1)[-1].upper()
    return ".dist-info/" in path and name.startswith(("LICEN", "COPYING", "NOTICE", "AUTHORS"))


def _field(meta: importlib.metadata.PackageMetadata, name: str) -> str:
    return ", ".join(meta.get_all(name) or ())


def _classifier(meta: importlib.metadata.PackageMetadata) -> str:
    licences = [
        value.rsplit("::", 1)[-1].strip()
        for value in meta.get_all("Classifier") or ()
        if value.startswith("License ::")
    ]
    return ", ".join(licences) or "licence in the text below"
