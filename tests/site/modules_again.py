"""Runs inside a restored Python after no_import.py: says which modules are new since then."""

import sys

print(", ".join(sorted(set(sys.modules) - sys.known)) or "no module is new")
