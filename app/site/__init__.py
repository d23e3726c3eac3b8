"""The builder: never shipped. `environment` runs on any Python 3.8 or newer, the rest in .venv."""
