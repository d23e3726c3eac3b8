"""The commands of build.py, inside .venv: build, serve, test, bench, lock."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

from app.site import fetch, node
from app.site.environment import ROOT, Failure, say
from app.site.kept import contents, digest
from app.ui.strings import LANGUAGES

SITE = ROOT / "site"
WATCHED = ("app", "lessons", "package-lock.json")


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit code. Raises Failure for whatever ends it."""
    options = parse(arguments)
    command: Callable[[argparse.Namespace], int] = options.run
    return command(options)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line; what `test` and `bench` do not know is passed on as `rest`."""
    parser = argparse.ArgumentParser(
        prog="build.py", description="Builds, serves and tests NormLab."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    building = commands.add_parser("build", help="make the site, in the folder site/")
    building.set_defaults(run=build_command)
    serving = commands.add_parser("serve", help="make the site and serve it on this machine")
    serving.set_defaults(run=serve_command)
    for command in (building, serving):
        command.add_argument(
            "--base",
            default="/",
            type=base_path,
            metavar="/PATH/",
            help="where the site will stand on its host, if not at the top",
        )
        command.add_argument("--out", default=SITE, type=Path, help="the folder to write (site/)")
        command.add_argument(
            "--brotli",
            action="store_true",
            help="beside each file the same in brotli, for hosts that serve NAME.br for NAME",
        )
    serving.add_argument(
        "--port", default=8000, type=port_number, help="8000; a free one if it is taken"
    )
    serving.add_argument("--open", action="store_true", help="open it in the browser")
    serving.add_argument(
        "--watch", action="store_true", help="make it again whenever a file changes"
    )

    testing = commands.add_parser("test", help="run all checks and tests; passes options to pytest")
    testing.set_defaults(run=test_command)
    # Without help of its own, so that `bench NAME --help` is the bench's.
    measuring = commands.add_parser(
        "bench",
        help="run one of bench/; passes options to it, --help too",
        add_help=False,
    )
    measuring.set_defaults(run=bench_command)
    measuring.add_argument("name", choices=benches())
    locking = commands.add_parser("lock", help="resolve the dependencies anew")
    locking.set_defaults(run=lock_command)

    options, rest = parser.parse_known_args(arguments)
    if rest and options.run not in (test_command, bench_command):
        parser.error(f"unknown arguments: {' '.join(rest)}")
    options.rest = rest
    return options


def base_path(text: str) -> str:
    """A path with a slash at both ends; argparse says the rest."""
    steps = text.strip("/").split("/") if text.strip("/") else []
    if not all(re.fullmatch(r"[\w.~%-]+", step) and set(step) != {"."} for step in steps):
        raise argparse.ArgumentTypeError(f"a base is a path like /courses/norm/, not {text}")
    return "/" + "".join(f"{step}/" for step in steps)


def port_number(text: str) -> int:
    """A TCP port; argparse says the rest."""
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"a port is a whole number from 1 to 65535, not {text}")
    return number


def benches() -> list[str]:
    """The benches there are, by name."""
    files = (ROOT / "bench").glob("*.py")
    return sorted(file.stem for file in files if "def main(" in file.read_text(encoding="utf-8"))


# --- build ----------------------------------------------------------------------------------------


def build_command(options: argparse.Namespace) -> int:
    build(options.out, options.base, options.brotli)
    return 0


def build(out: Path = SITE, base: str = "/", with_brotli: bool = False) -> None:
    """Make the site in the folder `out`, whole or not at all.

    What is there already is replaced only if it is a site, too: nothing else is ever lost.
    Raises Failure.
    """
    from app.site import brotli, bundle, pages  # here, for they bring Panel with them

    started = time.monotonic()
    if not may_be_replaced(out):
        raise Failure(
            f"{out} is no site that build.py made and is left as it is; name a new or an empty "
            "folder with --out."
        )
    node.packages()
    cache = fetch.cache_folder()
    runtime = bundle.make(cache)
    stamp = Stamp(cache, out, [base, runtime.folder.name, str(with_brotli)])
    if stamp.is_current():
        say(f"{out} is up to date")
        return
    say("writing the pages")
    try:
        parent = out.resolve().parent
        parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=parent))
    except OSError as error:
        raise Failure(f"Cannot write {out} ({error.strerror}); name another with --out.") from error
    try:
        pages.build(scratch / "new", runtime, base)
        if with_brotli:
            brotli.beside(scratch / "new", cache)
        replace(out, scratch / "new", aside=scratch / "old")
    except OSError as error:
        raise Failure(f"Cannot write {out} ({error.strerror}); name another with --out.") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    stamp.write()
    say(f"{out} is ready, made in {time.monotonic() - started:.1f} s")


def replace(out: Path, new: Path, aside: Path) -> None:
    """Move the folder `new` to `out`; what is there goes aside, and comes back should that fail.

    Raises OSError.
    """
    there = out.exists()
    if there:
        out.rename(aside)
    try:
        new.rename(out)
    except OSError:
        if there:
            aside.rename(out)
        raise


def may_be_replaced(out: Path) -> bool:
    """Whether nothing is there, or an empty folder, or a site (whole or not) and nothing else."""
    try:
        found = {path.name for path in out.iterdir()}
    except FileNotFoundError:
        return True
    except NotADirectoryError:
        return not out.exists()  # below a file: no folder can be made there, which is said later
    folders = {"assets", "runtime"}
    others = {"documents", "index.html", "404.html", "offline.js"}
    return not found or folders <= found <= {*folders, *others, *LANGUAGES}


class Stamp:
    """Remembers, outside the site, what it was made from and what it consists of."""

    def __init__(self, cache: Path, out: Path, settings: Sequence[str]) -> None:
        name = digest(str(out.resolve()))
        self.out, self.path = out, fetch.make_folder(cache / "sites") / name
        self.inputs = digest(*settings, *contents(inputs()))

    def is_current(self) -> bool:
        """Whether the site there was made from this and is still as it was made."""
        return self.path.is_file() and self.path.read_text(encoding="utf-8") == self._text()

    def write(self) -> None:
        self.path.write_text(self._text(), encoding="utf-8")

    def _text(self) -> str:
        files = sorted(path for path in self.out.rglob("*") if path.is_file())
        listing = [f"{path.relative_to(self.out)} {path.stat().st_size}" for path in files]
        return "\n".join([self.inputs, *listing])


def inputs() -> list[Path]:
    """Every file that a site is made from, besides the runtime."""
    roots = [ROOT / name for name in WATCHED]
    files = [file for root in roots for file in ([root] if root.is_file() else root.rglob("*"))]
    return sorted(f for f in files if f.is_file() and "__pycache__" not in f.parts)


# --- serve ----------------------------------------------------------------------------------------


def serve_command(options: argparse.Namespace) -> int:
    from app.site.serve import listen

    build(options.out, options.base, options.brotli)
    server = listen(options.out, options.base, options.port)
    if server.server_address[1] != options.port:
        say(f"port {options.port} is taken")
    print(f"\n  NormLab is at {server.address}   (Ctrl+C ends it)\n", flush=True)
    if options.open:
        webbrowser.open(server.address)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        if options.watch:
            watch([ROOT / name for name in WATCHED], lambda: rebuild(options))
        else:
            threading.Event().wait()
    except KeyboardInterrupt:
        print()
    server.shutdown()
    return 0


def rebuild(options: argparse.Namespace) -> bool:
    """Make the site again, in a new process: this one has the old code loaded."""
    command = [sys.executable, str(ROOT / "build.py"), "build"]
    command += ["--base", options.base, "--out", str(options.out)]
    command += ["--brotli"] if options.brotli else []
    done = subprocess.call(command) == 0
    say("reload the page to see it" if done else "the site stays as it was until this is put right")
    return done


def watch(
    roots: Sequence[Path], react: Callable[[], object], stop: threading.Event | None = None
) -> None:
    """Call `react` after each change below the roots, until `stop` is set or Ctrl+C comes."""
    from watchfiles import watch as changes

    say(f"watching {', '.join(os.path.relpath(root, ROOT) for root in roots)}")
    for found in changes(*roots, stop_event=stop, raise_interrupt=True):
        names = sorted({os.path.relpath(path, ROOT) for _, path in found if is_source(path)})
        if names:
            say(f"changed: {', '.join(names[:4])}{' …' if len(names) > 4 else ''}")
            react()


def is_source(path: str) -> bool:
    """Whether a change of this file is one of the author's: no bytecode, no editor's copy."""
    return "__pycache__" not in path and not path.endswith(("~", ".swp", ".tmp"))


# --- test, bench, lock ----------------------------------------------------------------------------


SHARED = ("--numprocesses=2",)  # see tests/conftest.py


def test_command(options: argparse.Namespace) -> int:
    from app.site import browser

    chromium = browser.ensure()
    build()
    say(f"testing, with {chromium}")
    environment = {**os.environ, "NORMLAB_CHROMIUM": str(chromium)}
    command = [sys.executable, "-m", "pytest", *SHARED, *options.rest]
    return subprocess.call(command, cwd=ROOT, env=environment)


WITHOUT_SITE = ("compute",)  # the benches that need neither a built site nor a browser


def bench_command(options: argparse.Namespace) -> int:
    from app.site import browser

    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if options.name not in WITHOUT_SITE and not {"-h", "--help"} & set(options.rest):
        environment["NORMLAB_CHROMIUM"] = str(browser.ensure())
        build()
    command = [sys.executable, str(ROOT / "bench" / f"{options.name}.py"), *options.rest]
    return subprocess.call(command, env=environment)


def lock_command(options: argparse.Namespace) -> int:
    from app.site import locking

    locking.write()
    return 0
