"""The one error of lesson text: a sentence with the place where it went wrong."""

from pathlib import Path


class TextError(ValueError):
    """`lessons/warmup/en.md:12: there is no directive "experimnt"; there are …`"""

    def __init__(self, path: Path, line: int | None, sentence: str) -> None:
        place = f"{_short(path)}:{line}" if line is not None else _short(path)
        super().__init__(f"{place}: {sentence}")
        self.path = path
        self.line = line


def _short(path: Path) -> str:
    """The path as an author would type it: relative to where the build was started."""
    try:
        return path.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return path.as_posix()
