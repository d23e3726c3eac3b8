"""How big is the signal, and what does LayerNorm do to its gradient?"""

from app.experiments.lesson import Lesson

LESSON = Lesson(slug="signal", order=2)
