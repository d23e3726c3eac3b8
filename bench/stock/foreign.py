"""What a converted page asks of other hosts, answered from this machine.

Whatever the host, the path decides: Pyodide's files come from the folder given, the wheels are
packed from what is installed, style sheets and JS are those inside Bokeh's and Panel's packages.
In the page and in the Python it installs, addresses of other hosts lose the s of https, so that no
certificate is needed, and get a last label `.test`, because browsers know some hosts by name as
reachable over TLS only, and so that no real host can be meant. Nothing else is changed.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import bokeh
import panel
from packaging.requirements import Requirement

from bench.harness import Answer

BOKEH_JS = Path(bokeh.__file__).parent / "server" / "static" / "js"
PANEL_DIST = Path(panel.__file__).parent / "dist"

# Panel's and Bokeh's wheels for the browser are lighter than those that pip installs: without the
# JS, the bundled resources and (to be on the safe side) the tests.
LEFT_OUT = re.compile(
    r"(^|/)(__pycache__|\.\.)(/|$)|\.(so|pyd|dylib|js|map|d\.ts|tsbuildinfo)$|bokeh\.json$"
    r"|^panel/(tests/|dist/(?!css/|images/))|^bokeh/server/static/(?!css)"
)
KEPT = re.compile(r"^bokeh/core/_templates/|^panel/_templates/|^pyviz_comms/")

# What the converted page installs, apart from what these require.
INSTALLED = ("bokeh", "panel", "pyodide-http")
SIMPLE = "application/vnd.pypi.simple.v1+json"


class Foreign:
    """Answers a converted page's requests for other hosts.

    `runtime` gives the content of a file of Pyodide's distribution by name, or None where it has
    no such file. Packages in Pyodide's lock that it does not have are packed from the installed
    ones under the name in the lock, with the lock's hash adjusted.
    """

    def __init__(self, runtime: Callable[[str], bytes | None]) -> None:
        self.runtime = runtime
        self.stand_ins: set[str] = set()
        content = runtime("pyodide-lock.json")
        if content is None:
            raise FileNotFoundError("The runtime has no pyodide-lock.json.")
        lock = json.loads(content)
        self.wheels: dict[str, bytes] = {}
        self.locked: dict[str, str] = {}  # name by file name
        for name in _closure(INSTALLED, lock["packages"]):
            if package := lock["packages"].get(name):
                file = package["file_name"]
                self.locked[file] = name
                package["sha256"] = sha256(self._wheel(file) or b"").hexdigest()
        self.lock = json.dumps(lock).encode()

    def __call__(self, host: str, path: str) -> Answer | None:
        name = path.rstrip("/").rpartition("/")[2]
        if "/simple/" in path:
            return self._index(name)
        if name == "pyodide-lock.json":
            return Answer.of(self.lock, name)
        if name.endswith(".whl"):
            wheel = self._wheel(name)
            return wheel and Answer.of(wheel, name)
        if name.endswith(".whl.metadata"):
            found = _installed(name.split("-")[0])
            return found and Answer.of((found.read_text("METADATA") or "").encode(), name)
        if "/pyodide/" in path and (content := self.runtime(name)):
            return Answer.of(content, name)
        return self._asset(path)

    def _asset(self, path: str) -> Answer | None:
        """A script or style sheet of Bokeh or Panel."""
        if match := re.search(r"/(bokeh[a-z-]*)-[\d.]+\.min\.js$", path):
            file = BOKEH_JS / f"{match[1]}.min.js"
        elif "/dist/" in path:
            file = PANEL_DIST / path.partition("/dist/")[2].replace("%5E", "^")
        else:
            return None
        return Answer.of(plain(file.read_bytes()), file.name) if file.is_file() else None

    def _index(self, name: str) -> Answer | None:
        """A package index's answer, with the one version that is installed."""
        found = _installed(name)
        if found is None:
            return None
        stem = re.sub(r"[-_.]+", "_", found.metadata["Name"])
        file = f"{stem}-{found.version}-py3-none-any.whl"
        entry = {
            "filename": file,
            "url": f"http://files.test/{file}",
            "hashes": {"sha256": sha256(self._wheel(file) or b"").hexdigest()},
            "core-metadata": True,
            "size": len(self._wheel(file) or b""),
        }
        page = {"meta": {"api-version": "1.1"}, "name": name, "versions": [found.version]}
        return Answer.of(json.dumps({**page, "files": [entry]}).encode(), "index.json", SIMPLE)

    def _wheel(self, file: str) -> bytes | None:
        if file in self.wheels:
            return self.wheels[file]
        locked = file in self.locked
        found = _installed(self.locked.get(file) or file.split("-")[0])
        content = self.runtime(file) if locked else None
        if content:
            wheel = _repacked(content) if file.startswith("micropip-") else content
        elif found:
            wheel = _packed(found)
        elif locked:
            wheel = _empty(file)
        else:
            return None
        if locked and not content:
            self.stand_ins.add(file)
        self.wheels[file] = wheel
        return wheel


def plain(text: bytes) -> bytes:
    """The same text with every address `https://host/…` as `http://host.test/…`."""
    return re.sub(rb"https://([\w-]+(?:\.[\w-]+)+)", rb"http://\1.test", text)


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _closure(names: Iterable[str], locked: Mapping[str, Any]) -> set[str]:
    """The packages named and all that they require, by Pyodide's lock and by what is installed."""
    wanted = {"micropip"}
    waiting = [*names, *locked["micropip"]["depends"]]
    browser = {"extra": "", "sys_platform": "emscripten"}
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in wanted:
            continue
        wanted.add(name)
        waiting += locked.get(name, {}).get("depends", [])
        found = _installed(name)
        for requirement in map(Requirement, found.requires or [] if found else []):
            if requirement.marker is None or requirement.marker.evaluate(browser):
                waiting.append(requirement.name)
    return wanted


def _packed(found: Distribution) -> bytes:
    """A wheel made of an installed distribution's Python and data files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file in found.files or []:
            name = file.as_posix()
            if LEFT_OUT.search(name) and not KEPT.search(name):
                continue
            content = file.read_binary()
            if name.endswith("METADATA"):  # tornado is no requirement in the browser's wheel
                content = re.sub(rb"\nRequires-Dist: tornado[^\n]*", b"", content)
            wheel.writestr(name, plain(content) if name.endswith(".py") else content)
    return out.getvalue()


def _repacked(wheel: bytes) -> bytes:
    """A wheel whose Python names plain addresses."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(wheel)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for item in old.infolist():
            content = old.read(item)
            new.writestr(item, plain(content) if item.filename.endswith(".py") else content)
    return out.getvalue()


def _empty(file: str) -> bytes:
    """A wheel that holds nothing but its name."""
    name, version = file.split("-")[:2]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as wheel:
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        wheel.writestr(f"{name}-{version}.dist-info/METADATA", metadata)
        wheel.writestr(f"{name}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\n")
    return out.getvalue()
