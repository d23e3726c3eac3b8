"""Makes the runtime folder: what the browser loads to have Python, packed small and quick to start.

Four steps, each kept in the cache under a hash of what went into it:
  compile  the shipped packages and the standard library, byte-compiled inside Pyodide
  trace    our own code byte-compiled, every lesson worked through: what is imported and opened
  pack     only that, as stored zips, compressed as a whole
  gather   the files under neutral names in a folder named by their content
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from app.site import fetch, licences, node, packing, snapshot, versions
from app.site.environment import ROOT, say
from app.site.kept import Kept, contents, digest, file_digest
from app.ui import strings

HERE = Path(__file__).parent
SITE = "/lib/python3.13/site-packages"
STDLIB = "/lib/python313.zip"
# How far `compile` goes: 2 leaves docstrings out, which nobody reads on a page.
DOCSTRINGS, NO_DOCSTRINGS = 0, 2  # NumPy's import reads its docstrings and dies without them
EXERCISE = HERE / "inside" / "exercise.py"

# The distributions that a lesson imports in the browser. NumPy is Pyodide's own build.
SHIPPED = (
    "bokeh",
    "panel",
    "param",
    "pyviz-comms",
    "jinja2",
    "markupsafe",
    "packaging",
    "typing-extensions",
    "tqdm",
    "markdown",
    "markdown-it-py",
    "mdurl",
    "mdit-py-plugins",
    "linkify-it-py",
)
# Of our own code, what never runs in the browser.
NOT_SHIPPED = ("site/*", "web/*", "text/*", "__main__.py", "terminal.py")
# Of the packages, what no lesson can need; the trace leaves out far more.
SKIPPED = (
    "*.pyi",
    "*.a",
    "*.h",
    "*.map",
    "*.ts",
    "*.tsx",
    "*.so.dbg",
    "*.pxd",
    "*.pyx",
    "*cpython-3??-*linux*",
    "*.dylib",
    "*.pyd",
    "tests/*",
    "*/tests/*",
    "__pycache__/*",
    "*/__pycache__/*",
    "dist/bundled/*",
    "dist/*.js",
    "dist/wheels/*",
    "node_modules/*",
    "server/static/*",
    "numpy/f2py/*",
)
# Modules that do nothing but attach docstrings to what is compiled: left empty.
EMPTIED = ("_core/_add_newdocs.py", "_core/_add_newdocs_scalars.py")
# What others import at their beginning and no lesson uses: inside/stand_in.py takes the place.
# The older random numbers alone are a fifth of a megabyte that would travel.
STAND_INS = {
    "site": (
        *(f"numpy/random/{name}" for name in ("mtrand", "_mt19937", "_philox", "_sfc64")),
        "yaml/__init__",
    ),
    "stdlib": ("unittest/__init__", "unittest/mock"),
}
# What travels last: Bokeh is imported meanwhile, and needs none of it.
PANEL = ("panel", "param", "pyviz_comms", "tqdm")
# Modules that a page may need though working through the lessons does not show it:
# codecs that Python looks up by name, and what prints an error.
ALWAYS = (
    "encodings.ascii",
    "encodings.latin_1",
    "encodings.utf_8",
    "encodings.idna",
    "encodings.punycode",
    "encodings.cp437",
    "encodings.aliases",
    "traceback",
    "linecache",
    "tokenize",
    "warnings",
    "contextvars",
    "zipfile",
    "zipimport",
    "importlib.metadata",
    "pyodide.ffi",
    "pyodide.code",
    "pyodide.http",
    "pyodide.webloop",
    "_pyodide._core_docs",
)


@dataclass(frozen=True)
class File:
    """One file of the runtime folder as it travels."""

    name: str
    bytes: int
    sha256: str
    loose: int | None = None
    """Bytes of a packed one, as `packing.loose` makes it."""


@dataclass(frozen=True)
class Runtime:
    """A finished runtime folder, named by the hash of its content."""

    folder: Path
    files: tuple[File, ...]
    modules: tuple[str, ...] = ()
    """What the lessons import."""


def make(cache: Path, subject: Path = EXERCISE) -> Runtime:
    """The runtime for the code as it is now; `subject` works the lessons through.

    Raises Failure if versions do not match, a download fails, or a lesson fails inside Pyodide.
    """
    versions.check()
    core = fetch.runtime(cache)
    kept = Kept(cache / "bundle")
    compiled = kept.folder_of("compiled", compiled_key(), lambda out: compile_packages(core, out))
    traced = kept.folder_of(
        "traced", traced_key(compiled, subject), lambda out: trace(core, compiled, subject, out)
    )
    answer = json.loads((traced / "trace.json").read_text(encoding="utf-8"))
    archives = choose(core, compiled, traced, answer)
    packed = {name: pack(kept, item) for name, item in archives.items()}
    return gather(core, kept, packed, archives["native.gz.bin"].paths, answer["modules"])


# --- compile --------------------------------------------------------------------------------------


def compiled_key() -> str:
    """What the compiled packages depend on: their versions, the pins, our scripts."""
    installed = [f"{name} {importlib.metadata.version(name)}" for name in SHIPPED]
    settings = json.dumps([fetch.PINS, SKIPPED, EMPTIED, STAND_INS, DOCSTRINGS, NO_DOCSTRINGS])
    return digest(settings, *installed, *contents(scripts("compile.py", "stand_in.py")))


def compile_packages(core: Path, out: Path) -> None:
    """Byte-compile the standard library, NumPy and the shipped packages into `out`."""
    say("byte-compiling Python for the browser, inside Pyodide")
    numpy = fetch.wheel(core, "numpy").name
    mounts = {"/core": core, "/out": out}
    trees = [
        tree("/core/python_stdlib.zip", "/out/stdlib", STDLIB, NO_DOCSTRINGS),
        tree(f"/core/{numpy}", "/out/site", SITE, DOCSTRINGS),
        tree("/loose", "/out/site", SITE, NO_DOCSTRINGS),
    ]
    loose = out / "loose"
    loose.mkdir()
    for distribution in SHIPPED:
        for top in top_level(distribution):
            if top.is_dir():
                mounts[f"/packages/{top.name}"] = top
                source, target, home = (
                    f"{at}/{top.name}" for at in ("/packages", "/out/site", SITE)
                )
                trees.append(tree(source, target, home, NO_DOCSTRINGS))
            else:
                shutil.copy(top, loose)
        write_metadata(distribution, loose)
    mounts["/loose"] = loose
    step = {
        "script": "compile.py",
        "trees": trees,
        "skip": [*SKIPPED, *replaced()],
        "empty": [f"numpy/{path}" for path in EMPTIED],
    }
    mounts["/stand_ins"] = out / "stand_ins"
    instead = {"script": "compile.py", "trees": stand_ins(out / "stand_ins"), "skip": []}
    node.inside_pyodide(core, mounts, [step, instead])
    shutil.rmtree(loose)
    shutil.rmtree(out / "stand_ins")


def replaced() -> list[str]:
    """Patterns of the files that others stand in for: of a package all, of a module either form."""
    modules = [module for names in STAND_INS.values() for module in names]
    return [f"{module.removesuffix('__init__')}*" for module in modules]


def stand_ins(folder: Path) -> list[dict[str, Any]]:
    """The stand-ins' sources, laid out in a folder, as trees of compile.py."""
    source = (HERE / "inside" / "stand_in.py").read_bytes()
    trees = []
    for kind, home in {"site": SITE, "stdlib": STDLIB}.items():
        for module in STAND_INS[kind]:
            path = folder / kind / f"{module}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source)
        trees.append(tree(f"/stand_ins/{kind}", f"/out/{kind}", home, NO_DOCSTRINGS))
    return trees


def tree(
    source: str, target: str, home: str, optimize: int, *, lines: bool = False
) -> dict[str, Any]:
    """A tree of files as compile.py takes it."""
    return {
        "source": source,
        "target": target,
        "home": home,
        "optimize": optimize,
        "lines": lines,
    }


def top_level(distribution: str) -> list[Path]:
    """The folders and modules that a distribution puts at the top of site-packages."""
    found = {}
    for file in importlib.metadata.files(distribution) or ():
        top = file.parts[0]
        is_code = len(file.parts) > 1 or top.endswith(".py")
        is_other = top.startswith(("..", "__pycache__")) or top.endswith((".dist-info", ".libs"))
        if is_code and not is_other:
            found[top] = place_of(distribution, top)
    return [found[name] for name in sorted(found)]


def place_of(distribution: str, path: str) -> Path:
    """Where a path of an installed distribution lies."""
    return Path(str(importlib.metadata.distribution(distribution).locate_file(path)))


def write_metadata(distribution: str, folder: Path) -> None:
    """Write the two lines by which importlib.metadata, which Bokeh asks, knows a version."""
    found = importlib.metadata.distribution(distribution)
    name, version = found.metadata["Name"], found.version
    info = folder / f"{re.sub(r'[-_.]+', '_', name).lower()}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8"
    )


# --- trace ----------------------------------------------------------------------------------------


def own_sources() -> list[Path]:
    """Our own files that may run in the browser, with the data they read."""
    app = ROOT / "app"
    return [
        path
        for path in sorted(app.rglob("*"))
        if path.is_file()
        and "__pycache__" not in path.parts
        and not any(fnmatch(path.relative_to(app).as_posix(), skip) for skip in NOT_SHIPPED)
    ]


def traced_key(compiled: Path, subject: Path) -> str:
    """What a trace depends on."""
    tools = scripts("compile.py", "trace.py")
    made = json.dumps(strings.converted())
    return digest(compiled.name, made, *contents([*own_sources(), *tools, subject]))


def trace(core: Path, compiled: Path, subject: Path, out: Path) -> None:
    """Byte-compile our own code into `out`, work the lessons through, note what was used."""
    say("working every lesson through inside Pyodide, to see what it needs")
    write_strings(out / "own" / "app" / "ui" / "strings" / strings.CONVERTED)
    steps: list[dict[str, Any]] = [
        {
            "script": "compile.py",
            "skip": [*SKIPPED, *NOT_SHIPPED],
            "trees": [tree("/app", "/out/own/app", f"{SITE}/app", NO_DOCSTRINGS, lines=True)],
        },
        {
            "script": "trace.py",
            "sites": ["/out/own", "/compiled/site"],
            "subject": f"/subject/{subject.name}",
            "answer": "/out/trace.json",
        },
    ]
    mounts = {"/app": ROOT / "app", "/compiled": compiled, "/subject": subject.parent, "/out": out}
    node.inside_pyodide(core, mounts, steps)


def write_strings(folder: Path) -> None:
    """Write the strings that have no files of their own: in the browser nothing can convert."""
    folder.mkdir(parents=True)
    for name, content in strings.converted().items():
        (folder / name).write_text(content, encoding="utf-8", newline="\n")


# --- pack -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Archive:
    """Files below one folder that travel together; `zipped` is False for one file as it is."""

    root: Path
    paths: tuple[str, ...]
    zipped: bool = True


def choose(core: Path, compiled: Path, traced: Path, answer: dict[str, Any]) -> dict[str, Archive]:
    """What travels, by the name it has in the runtime folder."""
    modules = {*answer["modules"], *ALWAYS}
    site, own, stdlib = compiled / "site", traced / "own", compiled / "stdlib"
    data = {path for path in answer["data"] if (site / path).is_file()}
    wanted = modules_of(site, modules) | data
    numpy = {path for path in wanted if path.startswith("numpy")}
    panel = {path for path in wanted if path.startswith(PANEL)}
    ours = {path.relative_to(own).as_posix() for path in own.rglob("*") if path.is_file()}
    return {
        "python.gz.bin": Archive(core, ("pyodide.asm.wasm",), zipped=False),
        "stdlib.gz.bin": Archive(stdlib, tuple(sorted(modules_of(stdlib, modules)))),
        "numpy.gz.bin": Archive(site, tuple(sorted(numpy))),
        "native.gz.bin": Archive(site, tuple(sorted(p for p in numpy if p.endswith(".so")))),
        "app.gz.bin": Archive(own, tuple(sorted(ours))),
        "bokeh.gz.bin": Archive(site, tuple(sorted(wanted - numpy - panel))),
        "panel.gz.bin": Archive(site, tuple(sorted(panel))),
        # What is opened after a restore, too. Strings are read before the snapshot is made.
        "data.gz.bin": Archive(
            own, tuple(sorted(p for p in ours if p.endswith(".json") and p in answer["data"]))
        ),
    }


def modules_of(root: Path, modules: Iterable[str]) -> set[str]:
    """The files below `root` that hold the named modules, with the packages they lie in."""
    found = set()
    for module in modules:
        parts = module.split(".")
        for end in range(1, len(parts) + 1):
            stem = root.joinpath(*parts[:end])
            candidates = [stem / "__init__.pyc", stem.with_name(f"{stem.name}.pyc")]
            candidates += stem.parent.glob(f"{stem.name}.*.so")
            found |= {file.relative_to(root).as_posix() for file in candidates if file.is_file()}
    return found


def pack(kept: Kept, archive: Archive) -> Path:
    """An archive, packed; from the cache if the same files were packed before."""
    key = digest(
        packing.VERSION,
        *contents([HERE / "packing.py"]),
        *(f"{path} {file_digest(archive.root / path)}" for path in archive.paths),
    )

    def fill(out: Path) -> None:
        root, paths = archive.root, archive.paths
        content = packing.stored(root, paths) if archive.zipped else (root / paths[0]).read_bytes()
        (out / "packed").write_bytes(packing.gzip(content))

    return kept.folder_of("packed", key, fill) / "packed"


# --- gather ---------------------------------------------------------------------------------------


def gather(
    core: Path,
    kept: Kept,
    packed: dict[str, Path],
    libraries: Sequence[str],
    modules: Sequence[str],
) -> Runtime:
    """Put everything into one folder, named by its content, with the snapshots that fit it."""
    lock = json.loads((core / fetch.LOCK).read_text(encoding="utf-8"))
    content = {
        "pyodide.js": without_source_map((core / "pyodide.mjs").read_bytes()),
        "pyodide.asm.js": (core / "pyodide.asm.js").read_bytes(),
        # The packages that Pyodide may load by itself: none, ours are in the archives.
        "lock.json": json.dumps({"info": lock["info"], "packages": {}}).encode(),
        "THIRD_PARTY.txt": licences.notices(SHIPPED).encode(),
        **{name: file.read_bytes() for name, file in packed.items()},
    }
    content |= snapshot.make(kept, content, libraries, modules)
    files = tuple(
        File(
            name,
            len(data),
            hashlib.sha256(data).hexdigest(),
            len(packing.loose(data)) if name.endswith(packing.PACKED) else None,
        )
        for name, data in sorted(content.items())
    )

    def fill(out: Path) -> None:
        for name, data in content.items():
            path = out / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        listing = json.dumps([asdict(file) for file in files], indent=1)
        (out / "files.json").write_text(listing, encoding="utf-8")

    key = digest(*(f"{file.name} {file.sha256}" for file in files))
    return Runtime(kept.folder_of("runtime", key, fill), files, tuple(modules))


def without_source_map(script: bytes) -> bytes:
    """A script without the line that names its source map: browsers' tools would ask for it."""
    return re.sub(rb"\n//# sourceMappingURL=\S+\s*$", b"\n", script)


def scripts(*names: str) -> list[Path]:
    """Scripts of inside/, with the one that runs them."""
    return [HERE / "inside.mjs", *(HERE / "inside" / name for name in names)]
