"""Stands where the package of this name would: Panel imports pandas if it is missing.

The real one lets Python fetch over the network. Nothing on a page does, so there is nothing to do.
"""


def patch_all() -> None:
    """Patch nothing."""
