"""A period of time, and the day of a moment."""

from datetime import date
from typing import NamedTuple

from warren.model import bounds
from warren.model.times import moment


class Period(NamedTuple):
    since_ms: int
    until_ms: int


def between(since: str, until: str, now_ms: int) -> Period:
    """Parse a period; an empty `until` is now. Raises ValueError with a message for the user."""
    period = Period(moment(since, now_ms), moment(until, now_ms) if until else now_ms)
    if period.since_ms >= period.until_ms:
        raise ValueError(f"the period from {since} until {until or 'now'} is empty")
    return period


def day(moment_ms: int) -> date:
    """The day in UTC, as in the history table."""
    return bounds.moment(moment_ms).date()
