"""What messages say of numbers: how old the oldest unread message is, and what will be.

People read these at night: one unit, whole numbers, and nothing about what is not known.
"""

from collections.abc import Iterator
from math import ceil, floor, isinf

from warren.notify.message import Measures, Message

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400
UNITS = ((DAY_S, "days"), (HOUR_S, "h"), (MINUTE_S, "min"), (1, "s"))
AT_LEAST = 2  # of a unit, else the smaller one
SOON_S = DAY_S  # a loss later than that is not told, unless reading takes longer


def waiting(message: Message) -> str:
    """One sentence, or nothing: "The oldest unread message is 12 min old (11 to 13), 2,808 wait".

    Only for a group that needs attention: a close says that all is well.
    """
    if message.digest or message.event == "close":
        return ""
    text = ", ".join(_parts(message.result.numbers))
    return text[:1].upper() + text[1:]


def age(numbers: Measures) -> str:
    """`12 min old (11 to 13)`; empty when nothing is unread or the age is not known."""
    best, low, high = numbers.age_s, numbers.age_low_s, numbers.age_high_s
    if not best or isinf(best):
        return f"at least {duration(low)} old" if low and not isinf(low) else ""
    unit_s, unit = _unit(best)
    text = f"{round(best / unit_s):,} {unit} old"
    bounds = []
    if low is not None and high is not None and not isinf(high):
        bounds = [f"{floor(low / unit_s):,} to {ceil(high / unit_s):,}"] * (low != high)
    elif low is not None:
        bounds = [f"at least {floor(low / unit_s):,}"]
    if numbers.age_method == "by_clock":
        bounds.append("by its timestamp")
    return f"{text} ({', '.join(bounds)})" if bounds else text


def duration(seconds: float | None) -> str:
    """`45 s`, `12 min`, `never`; empty if it is not known."""
    if seconds is None:
        return ""
    if isinf(seconds):
        return "never"
    unit_s, unit = _unit(seconds)
    return f"{round(seconds / unit_s):,} {unit}"


def _parts(numbers: Measures) -> Iterator[str]:
    if text := age(numbers):
        yield f"the oldest unread message is {text}"
    if numbers.lag:
        yield _unread(numbers.lag, numbers.lag_low, numbers.lag_high)
    if numbers.lag != 0 and (text := _drain(numbers.drain_low_s, numbers.drain_high_s)):
        yield f"at this pace {text}"
    if _is_soon(numbers):
        yield f"retention takes it in {duration(numbers.margin_s)}"
    if numbers.lost:
        yield f"{numbers.lost:,} {'was' if numbers.lost == 1 else 'were'} lost unread to retention"
    if numbers.offsets_expire_s is not None and numbers.offsets_expire_s <= SOON_S:
        yield f"the brokers forget its offsets in {duration(numbers.offsets_expire_s)}"


def _unread(lag: int, low: int | None, high: int | None) -> str:
    text = f"{lag:,} {'waits' if lag == 1 else 'wait'}"
    return text if low in {None, high} or high is None else f"{text} ({low:,} to {high:,})"


def _drain(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    if isinf(low):
        return "never read"
    if isinf(high):
        return f"read in {duration(low)} at best, perhaps never"
    unit_s, unit = _unit(high)
    first, last = floor(low / unit_s), ceil(high / unit_s)
    return f"read in {first:,} to {last:,} {unit}" if first < last else f"read in {last:,} {unit}"


def _is_soon(numbers: Measures) -> bool:
    """Retention comes within a day, or before the group has read what waits."""
    margin, drain = numbers.margin_s, numbers.drain_high_s
    if margin is None or isinf(margin):
        return False
    return margin < SOON_S or (drain is not None and margin < drain)


def _unit(seconds: float) -> tuple[int, str]:
    return next((each for each in UNITS if seconds >= AT_LEAST * each[0]), UNITS[-1])
