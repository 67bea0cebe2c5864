from structlog.testing import capture_logs

from warren.sources.progress import QUIET_S, Skips


def test_all_are_counted_and_each_reason_is_told_once_a_minute() -> None:
    skips = Skips()

    with capture_logs() as told:
        skips.add("local", {"topic": 2}, now=0)
        skips.add("local", {"topic": 3, "offset": 1}, now=QUIET_S - 1)
        skips.add("local", {"topic": 4}, now=QUIET_S)

    assert skips.total == {"topic": 9, "offset": 1}
    assert [(line["reason"], line["records"]) for line in told] == [
        ("topic", 2),
        ("offset", 1),
        ("topic", 7),
    ]
