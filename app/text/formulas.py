"""TeX → HTML with MathML, by KaTeX, all formulas of a build in one Node process."""

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from app.text.errors import TextError

_SCRIPT = Path(__file__).with_name("typeset.mjs")


@dataclass(frozen=True)
class Formula:
    """A formula and the place where it stands."""

    tex: str
    display: bool
    path: Path
    line: int | None = None


class Typesetter:
    """KaTeX under Node: `node` is the program, `katex` the folder of the npm package."""

    def __init__(self, node: Path, katex: Path) -> None:
        self._node = node
        self.katex = katex
        self._done: dict[tuple[str, bool], str] = {}

    def prepare(self, formulas: Iterable[Formula]) -> None:
        """Typesets what is not typeset yet, all in one process.

        Raises TextError at the first broken formula, and when KaTeX is not there.
        """
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
            [str(self._node), str(_SCRIPT), str(self.katex)],
            input=json.dumps(batch),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode:
            raise TextError(_SCRIPT, None, f"Node ended with an error: {done.stderr.strip()}")
        answers: list[dict[str, str]] = json.loads(done.stdout)
        return answers
