"""What a lesson declares about itself; its text stands beside it, one file per language."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    """`slug` is its folder and its address, `order` its place in the course. Its experiments are
    those that its text shows, its sources those that its text cites."""

    slug: str
    order: int
