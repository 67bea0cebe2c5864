"""Times as people write them."""

import pytest

from warren.model.period import Period, between
from warren.model.times import moment

NOW_MS = 1_793_536_200_000  # 2026-11-01 12:30 UTC


def test_a_time_may_be_written_in_several_ways() -> None:
    cases = {
        "90m": NOW_MS - 90 * 60_000,
        "24h": NOW_MS - 86_400_000,
        "2026-11-01": NOW_MS - 12 * 3_600_000 - 30 * 60_000,
        "2026-11-01T12:30": NOW_MS,
        "2026-11-01T13:30+01:00": NOW_MS,
        "1793536200000": NOW_MS,
        "999999999w": 0,
    }

    assert {text: moment(text, NOW_MS) for text in cases} == cases


def test_now_is_the_end_unless_said_otherwise() -> None:
    assert between("1h", "", NOW_MS) == Period(NOW_MS - 3_600_000, NOW_MS)


def test_what_is_no_period_is_refused() -> None:
    for since, until in (("soon", ""), ("1h", "2h"), ("", ""), ("1x", ""), ("10000-01-01", "")):
        with pytest.raises(ValueError, match=r"no time|is empty"):
            between(since, until, NOW_MS)
