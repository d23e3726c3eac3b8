"""Does Post-LN really lose a factor √d per layer?"""

from app.experiments.lesson import Lesson

LESSON = Lesson(slug="attenuation", order=3)
