"""When a group is expected to work, as an operator writes it."""

from datetime import UTC, datetime

import pytest

from warren.model.schedules import Schedule, read_period, read_schedule


def at(text: str) -> float:
    """2026-11-16 is a Monday."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def test_periods() -> None:
    cases = {"90": 90, "90s": 90, "10m": 600, "1h": 3600, "1h30m": 5400, "2d": 172_800, " 5M ": 300}

    assert {text: read_period(text) for text in cases} == cases
    assert read_schedule("10m") == Schedule(600)


@pytest.mark.parametrize(
    "text",
    ["", "m", "10x", "-5m", "1.5h", "10m1h", "0s", "9999999s", "٣m", "mon", "8:00", "25:00-26:00",
     "08:60-09:00", "08:00-08:00", "mon-fry 08:00-18:00", "mon 08:00-18:00; ", "mon- 08:00-09:00"],
)  # fmt: skip
def test_what_is_no_schedule_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_schedule(text)


def test_hours_of_the_week() -> None:
    office = read_schedule("mon-fri 08:00-18:00")
    nights = read_schedule("sat,sun 22:00-02:00; wed 12:00-24:00")
    daily = read_schedule("06:00-07:00")
    cases = {
        "monday at eight": (office, "2026-11-16T08:00", True),
        "a minute before": (office, "2026-11-16T07:59", False),
        "friday's last minute": (office, "2026-11-20T17:59", True),
        "friday at six": (office, "2026-11-20T18:00", False),
        "saturday": (office, "2026-11-21T12:00", False),
        "saturday night": (nights, "2026-11-21T23:00", True),
        "sunday early": (nights, "2026-11-22T01:59", True),
        "sunday's night ends on monday": (nights, "2026-11-16T01:00", True),
        "monday at two": (nights, "2026-11-16T02:00", False),
        "to midnight": (nights, "2026-11-18T23:59", True),
        "thursday": (nights, "2026-11-19T00:00", False),
        "every day": (daily, "2026-11-22T06:30", True),
    }

    wrong = [
        name for name, (when, now, expected) in cases.items()
        if when.expects_work(at(now)) is not expected
    ]  # fmt: skip

    assert wrong == []


def test_hours_are_those_of_the_zone() -> None:
    office = read_schedule("mon-fri 08:00-18:00", "Europe/Berlin")

    assert office.expects_work(at("2026-11-16T07:30"))  # 08:30 there
    assert not office.expects_work(at("2026-11-16T17:30"))
    assert office.expects_work(at("2026-07-13T06:30"))  # in summer two hours ahead


def test_a_period_always_expects_work() -> None:
    assert read_schedule("10m").expects_work(at("2026-11-22T03:00"))
