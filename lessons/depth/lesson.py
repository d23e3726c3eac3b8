"""Is a deep Pre-LN really a shallow, wide one?"""

from app.experiments.lesson import Lesson

LESSON = Lesson(slug="depth", order=4)
