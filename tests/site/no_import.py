"""Runs inside a restored Python: from now on an import that is not answered at once is an error."""

import sys


def note(event, arguments):
    if event == "import" and arguments[0] not in sys.modules:
        raise RuntimeError(f"{arguments[0]} is imported only now")


sys.known = frozenset(sys.modules)
sys.addaudithook(note)
