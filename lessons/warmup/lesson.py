"""Why can the original Transformer not do without warm-up?"""

from app.experiments.lesson import Lesson

LESSON = Lesson(slug="warmup", order=1)
