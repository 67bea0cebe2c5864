"""When a group is expected to work: every so often, or at some hours of the week.

A period is written as "10m" or "1h30m"; hours as "mon-fri 08:00-18:00" or "sat,sun 22:00-02:00",
several of them separated by semicolons. Hours are those of the policy's time zone, UTC if it has
none.
"""

import re
from datetime import UTC, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_MINUTES = 24 * 60
WEEK_MINUTES = 7 * DAY_MINUTES

_UNITS = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
_PERIOD = re.compile(r"(?:([0-9]{1,6})d)?(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,6})s)?")
_HOURS = re.compile(r"(?:([a-z,-]+) +)?([0-9][0-9]?):([0-9][0-9]) *- *([0-9][0-9]?):([0-9][0-9])")


class Schedule(NamedTuple):
    """A period, or minutes of the week; one of them is set."""

    period_s: int = 0
    spans: tuple[tuple[int, int], ...] = ()  # minutes since Monday 00:00; the end is not part
    zone: str = "UTC"

    def expects_work(self, now_s: float) -> bool:
        """Whether the group has to work now; with a period it always may."""
        if not self.spans:
            return True
        local = datetime.fromtimestamp(now_s, UTC).astimezone(ZoneInfo(self.zone))
        minute = local.weekday() * DAY_MINUTES + local.hour * 60 + local.minute
        return any(begin <= minute < end for begin, end in self.spans)


def read_period(text: str) -> int:
    """Read seconds: a whole number, or numbers with units such as 1h30m; raises ValueError."""
    text = text.strip().lower()
    if text.isascii() and text.isdigit():
        return int(text)
    found = _PERIOD.fullmatch(text)
    if not found or not any(found.groups()):
        raise ValueError("write seconds, or a period such as 90s, 10m, 1h30m or 1d")
    return sum(
        int(each or 0) * _UNITS[unit] for each, unit in zip(found.groups(), "dhms", strict=True)
    )


def read_schedule(text: str, zone: str = "UTC") -> Schedule:
    """Read a period or hours; raises ValueError with what is wrong."""
    if ":" not in text:
        period_s = read_period(text)
        if not period_s:
            raise ValueError("a period of 0 seconds")
        return Schedule(period_s, zone=zone)
    spans = [span for part in text.lower().split(";") for span in _read_hours(part.strip())]
    return Schedule(spans=tuple(sorted(spans)), zone=zone)


def _read_hours(text: str) -> list[tuple[int, int]]:
    found = _HOURS.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is neither a period nor hours such as mon-fri 08:00-18:00")
    begin = _minute(found[2], found[3])
    end = _minute(found[4], found[5])
    if begin == end:
        raise ValueError(f"{text!r} is empty: it begins when it ends")
    length = (end - begin) % DAY_MINUTES or DAY_MINUTES
    spans = []
    for day in _days(found[1] or "mon-sun"):
        first = day * DAY_MINUTES + begin
        spans.append((first, min(first + length, WEEK_MINUTES)))
        if first + length > WEEK_MINUTES:  # from Sunday into Monday
            spans.append((0, first + length - WEEK_MINUTES))
    return spans


def _minute(hour: str, minute: str) -> int:
    of_day = int(hour) * 60 + int(minute)
    if int(minute) > 59 or of_day > DAY_MINUTES:
        raise ValueError(f"{hour}:{minute} is no time of day")
    return of_day


def _days(text: str) -> list[int]:
    days: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if first not in DAYS or (dash and last not in DAYS):
            raise ValueError(f"{part!r} is no day; the days are {', '.join(DAYS)}")
        begin = DAYS.index(first)
        count = (DAYS.index(last) - begin) % 7 + 1 if dash else 1
        days += [(begin + day) % 7 for day in range(count)]
    return sorted(set(days))
