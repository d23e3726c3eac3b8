"""Stands in for a module that others import and no lesson uses, so that it need not travel.

app/site/bundle.py (STAND_INS) puts it in their places. Whatever is imported from it is a class that
says so when somebody makes one, or calls it, after all.
"""

from __future__ import annotations


def __getattr__(name: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)

    def missing(self: object, *positional: object, **named: object) -> None:
        raise NotImplementedError(f"{__name__}.{name} is not among what this page brought along")

    globals()[name] = type(name, (), {"__init__": missing, "__module__": __name__})
    return globals()[name]  # type: ignore[no-any-return]
