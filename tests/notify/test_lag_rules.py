"""Lag above a number, lag that grows: what fires, what does not, what is not known yet."""

from collections.abc import Sequence

import pytest
from notify.sample_verdicts import Part, verdicts_of

from warren.notify.incidents import NOTHING, Policy, Record, confirm
from warren.notify.lag_rules import Alarm, LagRule, LagWatch, lag_by_topic
from warren.notify.message import Subject
from warren.notify.rounds import NotifierRound

MINUTE = 60_000
FIRING, QUIET, UNKNOWN = Alarm.FIRING, Alarm.QUIET, Alarm.UNKNOWN

ABOVE = LagRule(above=100, growing_for_ms=0, groups="", topics="")
GROWING = LagRule(above=None, growing_for_ms=6 * MINUTE, groups="", topics="")
BOTH = GROWING._replace(above=100)


def watched(rule: LagRule, lags: Sequence[int | None]) -> list[Alarm | None]:
    """Look once a minute; None: the group is not there."""
    watch = LagWatch(rule, round_ms=MINUTE)
    states = []
    for at, lag in enumerate(lags):
        there = {} if lag is None else {"billing": [Part(lag=lag)]}
        seen = watch.look(verdicts_of({"other": [Part()], **there}), at * MINUTE)
        place = seen.places.get(("billing", ""))
        states.append(None if place is None else Alarm(int(seen.state[place])))
    return states


@pytest.mark.parametrize(
    ("name", "rule", "lags", "last"),
    [
        ("above", ABOVE, [101], FIRING),
        ("not above", ABOVE, [100], QUIET),
        ("no longer above", ABOVE, [500, 99], QUIET),
        ("growing, not long enough", GROWING, [1, 2, 3, 4, 5, 6], UNKNOWN),
        ("growing long enough", GROWING, [1, 2, 3, 4, 5, 6, 7], FIRING),
        ("standing still", GROWING, [5] * 9, QUIET),
        ("grew once, stands since", GROWING, [1, 2, *[3] * 8], QUIET),
        ("fell in between", GROWING, [1, 2, 3, 2, 5, 6, 7], QUIET),
        ("fell just now", GROWING, [1, 2, 3, 4, 5, 6, 7, 3], QUIET),
        ("fell before that time", GROWING, [9, 1, 2, 3, 4, 5, 6, 7, 8], FIRING),
        ("gone for a moment", GROWING, [1, 2, 3, None, 5, 6, 7], UNKNOWN),
        ("growing and above", BOTH, [101, 102, 103, 104, 105, 106, 107], FIRING),
        ("growing, not above", BOTH, [1, 2, 3, 4, 5, 6, 7], QUIET),
        ("above, not growing", BOTH, [200] * 9, QUIET),
    ],
)
def test_what_fires(name: str, rule: LagRule, lags: Sequence[int | None], last: Alarm) -> None:
    assert watched(rule, lags)[-1] is last, name


def test_lag_that_goes_up_and_down_with_every_commit_grows_when_its_lows_do() -> None:
    rule = GROWING._replace(growing_for_ms=30 * MINUTE)
    saw = [at * 10 + (at % 4) * 50 for at in range(36)]

    assert watched(rule, saw)[-1] is FIRING


def test_a_pause_in_which_nobody_looked_is_a_new_beginning() -> None:
    watch = LagWatch(GROWING, MINUTE)
    lags = iter(range(100))
    moments = [0, 1, 2, 3, 4, 5, 30, 31]

    states = [
        watch.look(verdicts_of({"billing": [Part(lag=next(lags))]}), at * MINUTE).state[0]
        for at in moments
    ]

    assert states[-1] == UNKNOWN


def test_the_lag_of_a_topic_is_the_sum_of_its_partitions() -> None:
    verdicts = verdicts_of(
        {
            "a": [Part(lag=1), Part(lag=2), Part(lag=3, topic="sales")],
            "b": [Part(lag=5, topic="sales")],
            "c": [Part(lag=7, topic="sales")],
        }
    )

    lags = lag_by_topic(verdicts)

    assert dict(zip(lags.names, lags.lag.tolist(), strict=True)) == {
        ("a", "orders"): 3,
        ("a", "sales"): 3,
        ("b", "sales"): 5,
        ("c", "sales"): 7,
    }
    assert lags.line.tolist() == [0, 0, 1, 2]
    assert lag_by_topic(verdicts_of({})).names == []


def test_patterns_choose_groups_and_topics() -> None:
    rule = ABOVE._replace(groups="^a", topics="sales$")
    parts = [Part(lag=900), Part(lag=901, topic="sales"), Part(lag=902, topic="sales-old")]

    seen = LagWatch(rule, MINUTE).look(verdicts_of({"a": parts, "b": parts}), 0)

    assert seen.firing() == [("a", "sales")]


class Lagging:
    """A module that watches lag, looking at one group once a minute."""

    def __init__(self, rule: LagRule) -> None:
        self.policy = Policy("slack", threshold=3, repeat_ms=60 * MINUTE, send_close=True)
        self.watch = LagWatch(rule, MINUTE)
        self.records = dict[Subject, Record]()
        self.at = 0

    def look(self, **groups: int) -> list[tuple[str, str, str]]:
        verdicts = verdicts_of({name: [Part(lag=lag)] for name, lag in groups.items()})
        this = NotifierRound(
            "local", self.records, {"slack": self.policy}, self.at, new_id=lambda: "id"
        )
        this.judge_groups(verdicts)
        this.judge_lags(verdicts, "slack", self.watch)
        self.at += MINUTE
        self.records = {
            subject: record
            for subject, record in (self.records | this.changes).items()
            if record is not None
        }
        sent: list[tuple[str, str, str]] = []
        for subject, wanted in this.due.get("slack", {}).items():
            for each in wanted:
                self.records[subject] = confirm(self.records.get(subject, NOTHING), each.notice)
                message = each.message()
                sent.append((message.event, message.group, message.reason))
        return sent


def test_an_alert_opens_and_closes_and_says_why_though_the_verdict_is_good() -> None:
    module = Lagging(ABOVE)

    days = [module.look(billing=lag) for lag in (50, 150, 160, 90, 80)]

    assert days == [
        [],
        [("open", "billing", "lag is 150, above 100")],
        [],
        [("close", "billing", "lag is 90, no longer above 100")],
        [],
    ]


def test_an_alert_of_a_group_that_is_gone_closes() -> None:
    module = Lagging(ABOVE)
    module.look(billing=150)

    assert module.look(other=1) == [("close", "billing", "its lag is no longer watched")]


def test_after_a_restart_a_growing_alert_stays_open_until_more_is_known() -> None:
    module = Lagging(GROWING)
    opened = [module.look(billing=lag) for lag in range(10)]

    module.watch = LagWatch(GROWING, MINUTE)  # all samples are gone
    after = [module.look(billing=lag) for lag in range(10, 20)]
    fallen = module.look(billing=3)

    assert [each for each in opened if each] == [
        [("open", "billing", "lag is 6, growing for 360 s")]
    ]
    assert [each for each in after if each] == []
    assert fallen == [("close", "billing", "lag is 3, no longer growing for 360 s")]


def test_a_clock_that_is_set_back_is_a_new_beginning() -> None:
    module = Lagging(GROWING)
    module.at = 24 * 60 * MINUTE
    for lag in range(5):
        module.look(billing=lag)

    module.at = 0
    after = [module.look(billing=lag) for lag in range(5, 13)]

    assert [each for each in after if each] == [
        [("open", "billing", "lag is 11, growing for 360 s")]
    ]
