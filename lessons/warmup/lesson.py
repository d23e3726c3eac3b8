"""Why can the original Transformer not do without warm-up?"""

from app.experiments.lesson import Lesson
from app.experiments.sensitivity import Sensitivity

LESSON = Lesson(slug="warmup", order=1, experiments=(Sensitivity,))
