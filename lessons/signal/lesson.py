"""How big is the signal, and what does LayerNorm do to its gradient?"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))  # `panel serve` knows this folder only

import panel as pn

from app.experiments import served
from app.experiments.lesson import Lesson

LESSON = Lesson(slug="signal", order=2)

if pn.state.served:
    served.serve(__file__)
