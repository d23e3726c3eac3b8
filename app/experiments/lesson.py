"""What a lesson declares about itself; its text stands beside it, one file per language."""

from dataclasses import dataclass

from app.experiments.experiment import Experiment


@dataclass(frozen=True)
class Lesson:
    """`slug` is its folder and its address, `order` its place in the course. The sources are
    those that its text cites."""

    slug: str
    order: int
    experiments: tuple[type[Experiment], ...]
