"""Numbers as readers see them: the same few digits in every sentence, table and language."""

import math
import re

_MINUS = "\N{MINUS SIGN}"
_RAISED = "\N{SUPERSCRIPT MINUS}⁰¹²³⁴⁵⁶⁷⁸⁹"
_SUPERSCRIPT = str.maketrans("-0123456789", _RAISED)
_ON_THE_LINE = str.maketrans(_RAISED, "-0123456789")
_WRITTEN = re.compile(
    rf"({_MINUS})?((?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?)(?: × 10([{_RAISED}]+))?"
)


def significant(value: float, digits: int = 3) -> str:
    """`value` to so many significant digits: 0.0123, 5.66, 54.2, 1.23 × 10⁶, −2.00."""
    if not math.isfinite(value):
        return _not_finite(value)
    if value == 0:
        return "0"
    exponent = _exponent(value, digits)
    if not -4 <= exponent < 6:
        return scientific(value, digits)
    return _fixed(round(value, digits - 1 - exponent), max(digits - 1 - exponent, 0))


def scientific(value: float, digits: int = 3) -> str:
    """`value` with its power of ten, however short it would be without: 6.99 × 10⁻⁴."""
    if not math.isfinite(value):
        return _not_finite(value)
    if value == 0:
        return "0"
    exponent = _exponent(value, digits)
    mantissa = _fixed(value / 10.0**exponent, digits - 1)
    return f"{mantissa} × 10{str(exponent).translate(_SUPERSCRIPT)}"


def with_error(value: float, error: float) -> str:
    """`5.7 ± 0.4`: the error with one digit (two if the first is a 1), the value to that place."""
    if not math.isfinite(value):
        return _not_finite(value)
    if not math.isfinite(error) or error <= 0:
        return significant(value, 3)
    digits = 2 if f"{error:.1e}"[0] == "1" else 1
    place = digits - 1 - _exponent(error, digits)
    if place > 6 or max(abs(value), error) >= 1e6:
        return f"{significant(value, 3)} ± {significant(error, digits)}"
    decimals = max(place, 0)
    return f"{_fixed(round(value, place), decimals)} ± {_fixed(round(error, place), decimals)}"


def r_squared(value: float) -> str:
    """R² to three decimals, a fourth where it tells it from 1: 0.934, 0.9996, > 0.9999."""
    if not math.isfinite(value):
        return _not_finite(value)
    if round(value, 4) == 1:
        return "> 0.9999"
    return _fixed(value, 4 if round(value, 3) == 1 else 3)


def percent(share: float) -> str:
    """A share of 0.01 as `1`: hundredths without needless zeros (the sign is the language's)."""
    return f"{share * 100:.3g}"


def whole(number: int) -> str:
    """A whole number with its thousands apart: 4,000."""
    return f"{number:,}"


def unadorned(text: str) -> str:
    """A number for readers as one for programs: −1,234.50 as -1234.50, 6.99 × 10⁻⁴ as 6.99e-4.

    Other texts stay as they are."""
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return text
    sign, digits, power = found.groups()
    exponent = f"e{power.translate(_ON_THE_LINE)}" if power else ""
    return f"{'-' if sign else ''}{digits.replace(',', '')}{exponent}"


def power_of_ten(value: float) -> str:
    """10⁻³ for 0.001; nothing for a number that is no power of ten."""
    mantissa, exponent = f"{value:.9e}".split("e")
    return f"10{str(int(exponent)).translate(_SUPERSCRIPT)}" if float(mantissa) == 1 else ""


def _exponent(value: float, digits: int) -> int:
    """The power of ten of the first digit, after rounding to so many digits (9.96 is 10.0)."""
    return int(f"{abs(value):.{digits - 1}e}".split("e")[1])


def _fixed(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    return _MINUS + text[1:] if text.startswith("-") and float(text) else text.lstrip("-")


def _not_finite(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "∞" if value > 0 else _MINUS + "∞"
