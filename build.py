#!/usr/bin/env python3
"""The one command: python3 build.py serve | build | test | bench (--help says more).

Runs on any Python 3.8 or newer; app/site/environment.py finds the one that the project needs.
"""

import os
import sys

if sys.version_info < (3, 8):
    sys.exit("build.py: Python 3.8 or newer is needed to start; try python3.12 build.py.")

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from app.site import environment  # noqa: E402  (the path must be set first)

if __name__ == "__main__":
    sys.exit(environment.main(sys.argv[1:]))
