"""TeX → HTML with MathML, by KaTeX, all formulas of a build in one Node process."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from app.text.errors import TextError

_SCRIPT = Path(__file__).with_name("typeset.mjs")
_REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Formula:
    """A formula and the place where it stands."""

    tex: str
    display: bool
    path: Path
    line: int | None = None


class Typesetter:
    """KaTeX under Node.

    `katex` is the folder of the npm package; `node` the program. Without them, `node` is the one
    beside the running Python (the virtual environment brings it), and KaTeX the one in the
    project's `node_modules`.
    """

    def __init__(self, node: Path | None = None, katex: Path | None = None) -> None:
        self._node = node
        self.katex = katex or _REPOSITORY / "node_modules" / "katex"
        self._done: dict[tuple[str, bool], str] = {}

    def prepare(self, formulas: Iterable[Formula]) -> None:
        """Typesets what is not typeset yet. Raises TextError at the first broken formula."""
        wanted = {(f.tex, f.display): f for f in formulas if (f.tex, f.display) not in self._done}
        if not wanted:
            return
        answers = self._run([{"tex": tex, "display": display} for tex, display in wanted])
        for formula, answer in zip(wanted.values(), answers, strict=True):
            if "error" in answer:
                raise TextError(
                    formula.path,
                    formula.line,
                    f"KaTeX cannot read the formula {formula.tex!r}: {answer['error']}",
                )
            self._done[formula.tex, formula.display] = answer["html"]

    def __call__(self, formula: Formula) -> str:
        """HTML of one formula (typeset now if `prepare` has not seen it)."""
        self.prepare([formula])
        return self._done[formula.tex, formula.display]

    def _run(self, batch: list[dict[str, object]]) -> list[dict[str, str]]:
        if not (self.katex / "package.json").is_file():
            raise TextError(
                self.katex, None, "KaTeX is not there; `npm ci` in the project's folder brings it."
            )
        done = subprocess.run(
            [str(self._program), str(_SCRIPT), str(self.katex)],
            input=json.dumps(batch),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode:
            raise TextError(_SCRIPT, None, f"Node ended with an error: {done.stderr.strip()}")
        answers: list[dict[str, str]] = json.loads(done.stdout)
        return answers

    @cached_property
    def _program(self) -> Path:
        if self._node is not None:
            return self._node
        beside = Path(sys.executable).with_name("node")
        if beside.exists():
            return beside
        found = shutil.which("node")
        if found is None:
            raise TextError(_SCRIPT, None, "no Node was found to typeset the formulas with.")
        return Path(found)
