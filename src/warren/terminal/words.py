"""Names, numbers and ages as a person reads them, on any terminal."""

import unicodedata

from rich.text import Text

# The word says it too: colours alone are not for everybody.
COLOURS = {
    "OK": "green",
    "WARN": "yellow",
    "ERR": "bold red",
    "STOP": "bold red",
    "STALL": "bold red",
    "REWIND": "bold red",
}
SANE = 1e12  # more a second is a number gone wrong
UNITS = ((10**18, "E"), (10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (1000, "k"))
BARS = "▁▂▃▄▅▆▇█"
LEVEL = "▄"
# Controls move the cursor, formats turn the reading direction; neither is to be taken at its word.
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def shown(name: str) -> str:
    """A name of anybody's making, with all that does not show itself escaped."""
    if name.isascii() and name.isprintable():
        return name
    return "".join(map(_shown, name))


def _shown(character: str) -> str:
    if unicodedata.category(character) not in HIDDEN:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode()


def name(text: str) -> Text:
    """As text that no markup is read from."""
    return Text(shown(text))


def status(word: str) -> Text:
    return Text(word, style=COLOURS.get(word, ""))


def number(value: int) -> str:
    return f"{value:,}"


def brief(value: int) -> str:
    """Three digits at most, for an axis: 65 k, 1.2 M."""
    if value < 10_000:
        return number(value)
    size, unit = next((each for each in UNITS if value >= each[0]), UNITS[-1])
    share = value / size
    return f"{share:.1f} {unit}" if share < 9.95 else f"{share:,.0f} {unit}"


def known(text: str) -> str:
    """A dash where nothing is known."""
    return text or "-"


def rate(a_second: float | None) -> str:
    if a_second is None:
        return "-"
    return f"{a_second:,.1f}/s" if abs(a_second) < SANE else f"{a_second:.0e}/s"


def age(seconds: float | None) -> str:
    if seconds is None:
        return "never"
    seconds = max(seconds, 0)
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def trend(digits: str, lag: int) -> str:
    """Bars of a sparkline, from digits between 0 and z; half high where a lag stays as it is."""
    if not digits.strip("0"):
        return LEVEL * len(digits) if lag else ""
    heights = (int(digit, 36) / 35 for digit in digits)
    return "".join(BARS[round(height * (len(BARS) - 1))] for height in heights)
