"""The five worked examples of the article that explains the evaluation rules.

Its pictures are lost; the windows below follow its words: ten commits, one a minute.
"""

from support.sample_windows import Past, Slot, history

from warren.evaluate.judge import JudgeSettings, judge
from warren.evaluate.rules import Rule
from warren.model.status import Status

T = 1_700_000_000
MINUTE = 60
ADVANCING = [*range(1000, 2000, 100)]


def verdict(offsets: list[int], lags: list[int], now_s: int) -> tuple[Status, Status, Rule]:
    """The status of the partition, that of its group, and what decided."""
    slots = [
        Slot(offset, (T + MINUTE * n) * 1000, lag)
        for n, (offset, lag) in enumerate(zip(offsets, lags, strict=True))
    ]
    past = Past(slots, current_lag=lags[-1], ends=[offsets[-1] + lags[-1]])
    verdicts = judge(history([past]), JudgeSettings(), now_s)
    partition, group = verdicts.partitions.status[0], verdicts.groups.status[0]
    return Status(partition), Status(group), Rule(verdicts.partitions.rule[0])


def last_commit(offsets: list[int]) -> int:
    return T + MINUTE * (len(offsets) - 1)


def test_1_zero_lag_in_the_window_is_ok_and_warns_after_six_more_commits() -> None:
    lags = [40, 30, 20, 10, 5, 0, 10, 10, 20, 30]  # the zero is the sixth commit
    then_lags = [*lags, 30, 40, 40, 50, 60, 60][-10:]
    then_offsets = [*range(1600, 2600, 100)]

    now = verdict(ADVANCING, lags, last_commit(ADVANCING))
    five_later = verdict(
        [*range(1500, 2500, 100)], [*lags, 30, 40, 40, 50, 60][-10:], last_commit(ADVANCING)
    )
    six_later = verdict(then_offsets, then_lags, last_commit(then_offsets))

    assert now == (Status.OK, Status.OK, Rule.WAS_CAUGHT_UP)
    assert five_later == (Status.OK, Status.OK, Rule.WAS_CAUGHT_UP)
    assert six_later == (Status.WARN, Status.WARN, Rule.FALLING_BEHIND)


def test_2_commits_without_progress_under_a_standing_lag_are_stalled() -> None:
    offsets, lags = [1000] * 10, [10, 10, 10, 10, 20, 20, 30, 30, 40, 50]

    assert verdict(offsets, lags, last_commit(offsets)) == (
        Status.STALL,
        Status.ERR,
        Rule.STALLED,
    )


def test_3_progress_with_a_lag_that_grows_all_along_is_a_warning() -> None:
    lags = [*range(10, 110, 10)]

    assert verdict(ADVANCING, lags, last_commit(ADVANCING)) == (
        Status.WARN,
        Status.WARN,
        Rule.FALLING_BEHIND,
    )


LAG_DIPS_BETWEEN_W3_AND_W4 = [10, 20, 30, 25, 40, 50, 60, 70, 80, 90]


def test_4_a_lag_that_shrinks_once_between_w3_and_w4_is_ok() -> None:
    assert verdict(ADVANCING, LAG_DIPS_BETWEEN_W3_AND_W4, last_commit(ADVANCING)) == (
        Status.OK,
        Status.OK,
        Rule.CATCHING_UP,
    )


def test_5_the_same_window_of_540_s_after_660_s_of_silence_is_stopped() -> None:
    now_s = T + 1200
    window_s, silence_s = last_commit(ADVANCING) - T, now_s - last_commit(ADVANCING)

    at_1200 = verdict(ADVANCING, LAG_DIPS_BETWEEN_W3_AND_W4, now_s)
    at_1080 = verdict(ADVANCING, LAG_DIPS_BETWEEN_W3_AND_W4, T + 1080)

    assert (window_s, silence_s) == (540, 660)
    assert at_1200 == (Status.STOP, Status.ERR, Rule.STOPPED)
    assert at_1080 == (Status.OK, Status.OK, Rule.CATCHING_UP)  # silence as long as the window
