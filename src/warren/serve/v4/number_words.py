"""The numbers beside a verdict in words: how far behind, when it has caught up, what is lost.

The page says the same in `page/parts/numbers.js`. A number that is not known is an empty text.
"""

from typing import NamedTuple

from warren.serve.v4.measured import Measured, Until

UNITS = ((31_557_600, "y"), (86_400, "d"), (3600, "h"), (60, "min"))
DAY_S = 86_400
MOST_YEARS = 1000  # more is a clock or a number gone wrong
SAME_PACE = 0.05  # reads and grows are the same when they differ by less than this part
METHODS = {"by_ends": ", by log ends", "by_clock": ", by the timestamps of records"}


def duration(seconds: float) -> str:
    return " ".join(_in_unit(seconds))


def _in_unit(seconds: float) -> tuple[str, str]:
    """The largest unit of which it has at least two."""
    seconds = max(seconds, 0)
    if seconds > MOST_YEARS * UNITS[0][0]:
        return f"{MOST_YEARS:,}+", "y"
    length, unit = next((each for each in UNITS if seconds >= 2 * each[0]), (1, "s"))
    return f"{seconds / length:,.0f}", unit


def between(low: float, high: float) -> str:
    """One text where both read the same."""
    (less, unit), (more, last) = _in_unit(low), _in_unit(high)
    if unit != last:
        return f"{less} {unit} to {more} {last}"
    return f"{less} {unit}" if less == more else f"{less} to {more} {unit}"


def behind(line: Measured) -> str:
    """The age of the oldest record that is not read."""
    age = line.age
    least = age.seconds if age.low is None else age.low
    if age.method == "nothing_unread":
        return "0 s"
    if least is None:
        return ""
    if age.high is None:
        return f"> {duration(least)}"
    return duration(least if age.seconds is None else age.seconds)


def age_bounds(line: Measured) -> str:
    """What the truth about `behind` lies between, and how that is known."""
    age = line.age
    if age.low is None or age.high is None or age.method not in METHODS:
        return ""
    return between(age.low, age.high) + METHODS[age.method]


def catch_up(line: Measured, status: str) -> str:
    """How long until everything is read, at the present pace."""
    low, high = line.drain.low, line.drain.high
    if line.lag.now == 0:
        return "0 s"
    if high == "never" and status == "OK" and _keeps_pace(line):
        return "keeps pace"
    if low == "never":
        return "never"
    if low is None or high is None:
        return ""
    return f"{duration(low)} or never" if high == "never" else between(low, high)


def _keeps_pace(line: Measured) -> bool:
    """Sums may hide a partition that stands still; its status does not."""
    if not line.produced or line.consumed is None:
        return False
    return abs(line.produced - line.consumed) <= SAME_PACE * line.produced


class Alarm(NamedTuple):
    """What must not be overlooked."""

    brief: str  # for a table
    text: str


def alarms(line: Measured, expires_s: Until = None) -> list[Alarm]:
    found = [Alarm(f"{line.lost:,} lost", _lost(line.lost))] if line.lost else []
    left = _runs_out_in(line)
    if left is not None:
        found.append(_loss(left))
    if isinstance(expires_s, float | int) and expires_s <= DAY_S:
        when = duration(expires_s)
        text = f"The brokers will forget offsets of it in about {when}: no member reads there."
        found.append(Alarm(f"offsets expire in {when}", text))
    return found


def _lost(records: int) -> str:
    if records == 1:
        return "1 record was lost to retention before the group had read it."
    return f"{records:,} records were lost to retention before the group had read them."


def _loss(left_s: float) -> Alarm:
    why = "at this pace: retention reaches them before the group does."
    if left_s < 1:
        return Alarm("losing records", f"Unread records are being lost now {why}")
    when = duration(left_s)
    return Alarm(f"loss in {when}", f"Unread records will be lost in about {when} {why}")


def _runs_out_in(line: Measured) -> float | None:
    """Seconds until retention takes what waits, within a day and not surely read before."""
    left, latest = line.margin_s, line.drain.high
    if not isinstance(left, float | int) or left > DAY_S or line.lag.now == 0:
        return None
    is_read_before = isinstance(latest, float | int) and latest < left
    return None if is_read_before else left
