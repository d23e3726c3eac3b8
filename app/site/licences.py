"""Third-party notices: the licence of everything foreign that a built site ships."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from pathlib import Path

NOTICES = Path(__file__).parent / "notices"
NO_TEXT = "(It carries no licence text; the name above says which it is.)"
TEXTS = {
    "Mozilla Public License 2.0": "MPL-2.0.txt",
    "Python Software Foundation License 2": "PSF-2.0.txt",
}


def notices(distributions: Sequence[str]) -> str:
    """The text of THIRD_PARTY.txt: name, version, licence text of each part that is shipped."""
    texts = [titled(title, read(name)) for title, name in TEXTS.items()]
    return "\n".join([read("head.txt"), *map(section, ("numpy", *distributions)), *texts])


def read(name: str) -> str:
    """A text of notices/."""
    return (NOTICES / name).read_text(encoding="utf-8")


def titled(title: str, text: str) -> str:
    """A text below an underlined title."""
    return f"{title}\n{'=' * len(title)}\n\n{text}\n"


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
    return titled(title, "\n".join(texts or [NO_TEXT]))


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
