"""Does Post-LN really lose a factor √d per layer?"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))  # `panel serve` knows this folder only

import panel as pn

from app.experiments import served
from app.experiments.lesson import Lesson

LESSON = Lesson(slug="attenuation", order=3)

if pn.state.served:
    served.serve(__file__)
