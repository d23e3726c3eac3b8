"""Where the texts are: the lessons', and those about the course."""

from pathlib import Path

LESSONS = Path(__file__).parents[2] / "lessons"
FOLDERS = sorted(
    [path.parent for path in LESSONS.glob("*/lesson.py")]
    + [path.parent for path in LESSONS.glob("pages/*/en.md")]
)
