"""Why a partition has its word: the rule, the numbers that decided, and what would end it."""

from collections.abc import Mapping

from warren.model import bounds
from warren.model.counted_nouns import counted
from warren.model.figures import LineFigures
from warren.model.judgement import Judgement, Word
from warren.model.status import Status

MS = 1000
NOTHING = LineFigures(0, 0, 0, 0, None, None, None, None, 0)

RULES = {
    Word.OK: "Nothing is wrong: Warren has not seen it stand still while records wait.",
    Word.NEVER: "A member holds the partition, or a policy names it, and nothing was ever "
    "committed; {waits}.",
    Word.LEFT: "The group has members, and none of them has subscribed to the topic since {since}; "
    "{waits}.",
    Word.BLOCKED: "All that readers of committed data may see is read; an open transaction has "
    "held back {records} since {from_}.",
    Word.WARN: "It reads more slowly than the log grows; {waits}.",
    Word.STALL: "It commits the same offset while records wait, and has for {held}; that is STALL "
    "after {limit}.",
    Word.REWIND: "It went back and is not yet where it was, at offset {former}.",
    Word.STOP: "Records wait, and it has been silent for {silent}; that is STOP after {limit}.",
    Word.STORM: "Its members join again and again, {rate:.1f} generations a minute, and the offset "
    "has not moved for {held}.",
    Word.LOST: "Retention has taken {records} that it had not read: its last commit is {commit}, "
    "and the log begins at {start}.",
    Word.AHEAD: "Its last commit, {commit}, lies beyond the end of the log, {end}: it would miss "
    "what is written.",
    Word.STALE: "Our own data have been too old to say anything since {from_}; before, it was "
    "{before}.",
}
TOO_LATE = "The oldest unread message is {late} old, and its policy allows {late_limit}; {waits}."
LATER = (
    "It reads more slowly than the log grows: it was {was_late} late at {from_} and is {late} late "
    "now; {waits}."
)

CAUSES = {
    Word.STALL: "Stuck at offset {at} for {held}",
    Word.STOP: "Silent at offset {at} for {silent}",
    Word.REWIND: "Went back from offset {former} to {at}",
    Word.STORM: "Its members join again and again, {rate:.1f} generations a minute; stuck at "
    "offset {at} for {held}",
}

PAUSES = (
    "Nothing is wrong: records wait, and it has not moved for {held}; that is no fault before "
    "{limit}."
)

ENDS = {
    Word.NEVER: "its first commit",
    Word.LEFT: "a member that subscribes to the topic, or a commit",
    Word.BLOCKED: "the end of the transaction",
    Word.WARN: "a lag that falls for some minutes",
    Word.STALL: "a commit of a higher offset",
    Word.REWIND: "a commit of offset {former} or beyond",
    Word.STOP: "a commit of a higher offset",
    Word.STORM: "a commit of a higher offset",
    Word.LOST: "a commit beyond the start of the log",
    Word.AHEAD: "a commit before the end of the log, or a log that has grown beyond it",
    Word.STALE: "an answer of the brokers",
}
OFTEN_S = 0.95  # commits that follow each other faster are told by the second
BEGINS = "It is STOP or STALL when records wait and it does not move for {limit}."


def why(judgement: Judgement, line: int) -> str:
    """The rule that decided, as a sentence for people, with its numbers."""
    return _sentence(judgement, line).format(**_numbers(judgement, line))


def _sentence(judgement: Judgement, line: int) -> str:
    word, figures = Word(judgement.word[line]), judgement.figures.of(line)
    if word == Word.OK and judgement.held_s[line] >= 1:
        return PAUSES
    if word == Word.WARN and figures and figures.limit_s is not None:
        return TOO_LATE
    if word == Word.WARN and figures and figures.was_late_s is not None:
        return LATER
    return RULES[word]


def cause(judgement: Judgement, line: int, seen: Mapping[str, float | None]) -> str:
    """What is the matter, for somebody who sees nothing else; empty: `why` says it.

    `seen` has the offset of its last commit, and how many messages wait.
    """
    word, lag = Word(judgement.word[line]), seen["current_lag"] or 0
    if word not in CAUSES or seen["last_offset"] is None:
        return ""
    at = f"{seen['last_offset']:,.0f}"
    numbers = _numbers(judgement, line)
    return f"{CAUSES[word].format(at=at, **numbers)}; {_wait(int(lag))}."


def change(judgement: Judgement, line: int) -> str:
    """What would end it; when nothing is wrong, what would begin something."""
    numbers, word = _numbers(judgement, line), Word(judgement.word[line])
    if word != Word.OK:
        return f"It ends with {ENDS[word].format(**numbers)}."
    is_known = judgement.limit_s[line] > 0
    return BEGINS.format(**numbers) if is_known else ""


def _wait(messages: int) -> str:
    return f"{messages:,} message{' waits' if messages == 1 else 's wait'}"


def _numbers(judgement: Judgement, line: int) -> dict[str, object]:
    figures = judgement.figures.of(line) or NOTHING
    return {
        "held": in_words(float(judgement.held_s[line])),
        "silent": in_words(float(judgement.silent_s[line])),
        "limit": in_words(float(judgement.limit_s[line])),
        "former": f"{int(judgement.former[line]):,}",
        "before": Word(judgement.before[line]).name,
        "since": bounds.utc(int(judgement.since_s[line]) * MS),
        "records": f"{figures.records:,} message{'' if figures.records == 1 else 's'}",
        "waits": _wait(figures.records),
        **{name: f"{getattr(figures, name) or 0:,}" for name in ("commit", "start", "end")},
        "late": in_words(figures.late_s or 0),
        "was_late": in_words(figures.was_late_s or 0),
        "late_limit": in_words(figures.limit_s or 0),
        "rate": figures.rate or 0,
        "from_": bounds.utc(figures.since_s * MS),
    }


def rhythm(judgement: Judgement, line: int) -> str:
    """What was learned; empty when nothing was."""
    gap_s, pause_s, period_s = (
        float(column[line])
        for column in (judgement.usual_gap_s, judgement.longest_pause_s, judgement.period_s)
    )
    parts = [
        *([_pace(gap_s)] if gap_s > 0 else []),
        *([f"regular pauses of up to {in_words(pause_s)}"] if pause_s > 0 else []),
        *([f"a run every {in_words(period_s)}"] if period_s > 0 and pause_s > 0 else []),
    ]
    return f"Its rhythm: {', '.join(parts)}." if parts else ""


def _pace(gap_s: float) -> str:
    if gap_s >= OFTEN_S:
        return f"a commit every {in_words(gap_s)}"
    return f"about {counted(round(1 / gap_s), 'commit')} a second"


def second_opinion(judgement: Judgement, line: int, by_burrow: str) -> str:
    """What the evaluator that does not decide would say; empty when it would say the same.

    `by_burrow` is the reason by Burrow's rules.
    """
    if not judgement.differs[line]:
        return ""
    if judgement.decides:
        return f"Burrow's rules would say {Status(judgement.burrow[line]).name}: {by_burrow}"
    word = Word(judgement.word[line]).name
    return f"Warren's evaluator would say {word}: {why(judgement, line)}"


def in_words(seconds: float) -> str:
    """As people say it: 1.5 s, 42 s, 7 min, 3 h, 2 days."""
    if seconds < 10:
        return f"{round(seconds, 1):g} s"
    for unit_s, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit_s:
            return f"{seconds / unit_s:.0f} {unit}"
    return f"{seconds:.0f} s"
