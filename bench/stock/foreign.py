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
from collections.abc import Iterable, Mapping
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
# The version of an empty wheel, which every requirement accepts.
ANY = "99.0"
SIMPLE = "application/vnd.pypi.simple.v1+json"


class Foreign:
    """Answers a converted page's requests for other hosts.

    `runtime` is a folder with Pyodide's core and such of its wheels as could be had. For the rest
    the installed distributions are packed, without what is compiled, under the names in Pyodide's
    lock, and the lock's hashes adjusted; what is not installed either is an empty wheel. Each makes
    the stock page lighter than it is, never heavier; `stand_ins` names those that were asked for.
    """

    def __init__(self, runtime: Path) -> None:
        self.runtime = runtime
        self.stand_ins: set[str] = set()
        lock = json.loads((runtime / "pyodide-lock.json").read_text(encoding="utf-8"))
        self.wanted = closure(INSTALLED, lock["packages"])
        locked = [lock["packages"][x] for x in sorted(self.wanted) if x in lock["packages"]]
        self.locked = {package["file_name"] for package in locked}
        self.wheels: dict[str, bytes] = {}
        for package in locked:
            package["sha256"] = sha256(self._wheel(package["file_name"])).hexdigest()
        self.lock = json.dumps(lock).encode()

    def __call__(self, host: str, path: str) -> Answer | None:
        name = path.rstrip("/").rpartition("/")[2]
        if "/simple/" in path:
            return self._index(name)
        if name == "pyodide-lock.json":
            return Answer.of(self.lock, name)
        file = name.removesuffix(".metadata")
        if file.endswith(".whl"):
            if _name(file) not in self.wanted:
                return None
            wheel = self._wheel(file)
            if self._is_stand_in(file):
                self.stand_ins.add(file)
            return Answer.of(wheel if file == name else _metadata(wheel), name)
        if "/pyodide/" in path and (self.runtime / name).is_file():
            return Answer.of((self.runtime / name).read_bytes(), name)
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
        if name not in self.wanted:
            return None
        found = _installed(name)
        version = found.version if found else ANY
        file = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
        wheel = self._wheel(file)
        entry = {
            "filename": file,
            "url": f"http://files.test/{file}",
            "hashes": {"sha256": sha256(wheel).hexdigest()},
            "core-metadata": True,
            "size": len(wheel),
        }
        page = {"meta": {"api-version": "1.1"}, "name": name, "versions": [version]}
        return Answer.of(json.dumps({**page, "files": [entry]}).encode(), "index.json", SIMPLE)

    def _wheel(self, file: str) -> bytes:
        """The runtime's own wheel, else one of what is installed, else an empty one."""
        if file not in self.wheels:
            own, found = self.runtime / file, _installed(_name(file))
            if file in self.locked and own.is_file():
                wheel = own.read_bytes()
                self.wheels[file] = _repacked(wheel) if file.startswith("micropip-") else wheel
            else:
                self.wheels[file] = _packed(found) if found else _empty(file)
        return self.wheels[file]

    def _is_stand_in(self, file: str) -> bool:
        if file in self.locked:
            return not (self.runtime / file).is_file()
        return _installed(_name(file)) is None


def plain(text: bytes) -> bytes:
    """The same text with every address `https://host/…` as `http://host.test/…`."""
    return re.sub(rb"https://([\w-]+(?:\.[\w-]+)+)", rb"http://\1.test", text)


def _name(file: str) -> str:
    """The package's name that a wheel's file name begins with."""
    return file.split("-")[0].replace("_", "-").lower()


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def closure(names: Iterable[str], locked: Mapping[str, Any]) -> set[str]:
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
    """A wheel that holds nothing but its name, and a function that Panel calls."""
    name, version = file.split("-")[:2]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as wheel:
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        wheel.writestr(f"{name}-{version}.dist-info/METADATA", metadata)
        wheel.writestr(f"{name}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\n")
        if name == "pyodide_http":
            wheel.writestr("pyodide_http.py", "def patch_all():\n    pass\n")
    return out.getvalue()


def _metadata(wheel: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(wheel)) as files:
        return next(files.read(x) for x in files.namelist() if x.endswith(".dist-info/METADATA"))
