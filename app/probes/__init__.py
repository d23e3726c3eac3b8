"""One measurement per file: pure functions or generators of a config. Knows no interface."""

NUMBERS_VERSION = "1"  # goes up whenever the same config gives other digits; links carry it
