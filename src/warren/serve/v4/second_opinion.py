"""What each evaluator says of partitions and groups, and what was learned of their rhythm."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from warren.model.arrays import AnyArray, Bytes, Ints
from warren.model.figures import LineFigures
from warren.model.judgement import Judgement, Word
from warren.model.status import Status
from warren.serve.board_file.board_view import ClusterView
from warren.serve.board_file.opinions import Opinions

MS = 1000
DIGITS = 3  # of seconds
Evaluator = Literal["caching", "warren"]
WordName = Literal[
    "OK",
    "NEVER",
    "LEFT",
    "BLOCKED",
    "WARN",
    "STALL",
    "REWIND",
    "STOP",
    "STORM",
    "LOST",
    "AHEAD",
    "STALE",
]
WORDS = [word.name for word in Word]
SECONDS_OF = {
    Word.STOP: ("silent_s", "limit_s"),
    Word.STALL: ("held_s", "limit_s"),
    Word.STORM: ("held_s",),
}
STATUSES = {status.value: status.name for status in Status}


class Rhythm(msgspec.Struct):
    """What Warren has learned; null: nothing yet, or there is none."""

    usual_gap_s: Annotated[float | None, Meta(description="Between two commits.")]
    longest_pause_s: Annotated[
        float | None,
        Meta(description="The longest regular time in which records wait and it does not move."),
    ]
    period_s: Annotated[float | None, Meta(description="Between the beginnings of its runs.")]


class Evidence(msgspec.Struct, omit_defaults=True):
    """The numbers that decided a word other than OK; which there are depends on the word."""

    records: Annotated[
        int,
        Meta(
            description="That wait; of LOST, that retention took unread; of AHEAD, by how many the "
            "commit lies beyond the end; of BLOCKED, that the transaction holds back."
        ),
    ]
    log_start: int
    log_end: int
    commit: Annotated[int | None, Meta(description="Absent: there was none.")] = None
    late_s: Annotated[
        float | None, Meta(description="WARN: the age of the oldest unread record.")
    ] = None
    least_late_s: Annotated[
        float | None, Meta(description="WARN: what it was at `since_ms`, when it was least.")
    ] = None
    max_time_lag_s: Annotated[
        float | None, Meta(description="WARN: what its policy allows; absent: it says nothing.")
    ] = None
    generations_per_minute: Annotated[float | None, Meta(description="Of STORM.")] = None
    since_ms: Annotated[
        int | None,
        Meta(
            description="WARN: see `least_late_s`; BLOCKED: since when the end is held back; "
            "STALE: when the log end was read."
        ),
    ] = None
    silent_s: Annotated[float | None, Meta(description="STOP: since its last commit.")] = None
    held_s: Annotated[
        float | None, Meta(description="STALL, STORM: since the offset moved last.")
    ] = None
    limit_s: Annotated[
        float | None, Meta(description="STOP, STALL: how long its rhythm explains that.")
    ] = None
    former: Annotated[
        int | None, Meta(description="REWIND: the offset at which it was before.")
    ] = None
    before: Annotated[WordName | None, Meta(description="STALE: the last word before.")] = None

    @classmethod
    def of(cls, judgement: Judgement, line: int, seen: LineFigures) -> "Evidence":
        numbers = (seen.late_s, seen.was_late_s, seen.limit_s, seen.rate)
        late, least, most, rate = (each and round(each, DIGITS) for each in numbers)
        about = (seen.records, seen.start, seen.end, seen.commit)
        made = cls(*about, late, least, most, rate, seen.since_s * MS or None)
        word = Word(judgement.word[line])
        for name in SECONDS_OF.get(word, ()):
            setattr(made, name, round(float(getattr(judgement, name)[line]), DIGITS))
        if word == Word.REWIND:
            made.former = int(judgement.former[line])
        if word == Word.STALE:
            (made.before,) = _names(judgement.before[line : line + 1])
        return made


class GroupOpinions(msgspec.Struct):
    """What both evaluators say of a group: one decides, the other is the second opinion."""

    evaluator: Annotated[Evaluator, Meta(description="Which one decides.")]
    word: Annotated[WordName, Meta(description="What `warren` says, the worst of its partitions.")]
    other: Annotated[
        str, Meta(description="What the one that does not decide says: a status, or a word.")
    ]
    differing: Annotated[int, Meta(description="Partitions of which they say different things.")]
    rhythm: Annotated[
        Rhythm, Meta(description="The shortest gap and the longest pause and period of them.")
    ]


class PartitionOpinions(msgspec.Struct):
    """What both evaluators say of a partition: one decides, the other is the second opinion."""

    evaluator: Annotated[Evaluator, Meta(description="Which one decides.")]
    word: Annotated[WordName, Meta(description="What `warren` says.")]
    since_ms: Annotated[
        int | None,
        Meta(
            description="Since when; of STALE, since when the last word before it. Null: nothing "
            "else was ever said."
        ),
    ]
    other: Annotated[
        str, Meta(description="What the one that does not decide says: a status, or a word.")
    ]
    differs: Annotated[bool, Meta(description="Burrow's clients would be told another status.")]
    limit_s: Annotated[
        float | None,
        Meta(
            description="It is STOP or STALL when records wait and it does not move for so long; "
            "null: not known."
        ),
    ]
    rhythm: Rhythm
    evidence: Evidence | msgspec.UnsetType = msgspec.UNSET


def evaluator(opinions: Opinions) -> Evaluator:
    return "warren" if opinions.judgement.decides else "caching"


def of_partitions(cluster: ClusterView, lines: slice) -> Iterator[dict[str, Any]]:
    """For each line, what it adds to an answer; nothing where the board does not say."""
    opinions = cluster.opinions
    if opinions is None:
        yield from ({} for _ in range(lines.start, lines.stop))
        return
    said = opinions.judgement
    rows = zip(
        _names(said.word[lines]),
        said.since_s[lines].tolist(),
        _others(opinions, said.burrow[lines], said.before[lines]),
        opinions.differs[lines].tolist(),
        _seconds(said.limit_s[lines]),
        _rhythms(said.usual_gap_s[lines], said.longest_pause_s[lines], said.period_s[lines]),
        strict=True,
    )
    figures = said.figures.of_lines(lines)
    for at, (word, since_s, *rest) in enumerate(rows, lines.start):
        own = PartitionOpinions(evaluator(opinions), word, since_s * MS or None, *rest)
        if at in figures:
            own.evidence = Evidence.of(said, at, figures[at])
        yield {"judgement": own}


def of_groups(cluster: ClusterView, numbers: Ints) -> Iterator[dict[str, Any]]:
    """Likewise for groups."""
    opinions = cluster.opinions
    if opinions is None:
        yield from ({} for _ in range(len(numbers)))
        return
    said = opinions.judgement
    columns = (opinions.usual_gap_s, opinions.longest_pause_s, opinions.period_s)
    rows = zip(
        _names(said.group_word[numbers]),
        _others(opinions, said.group_burrow[numbers], said.group_word[numbers]),
        opinions.differing[numbers].tolist(),
        _rhythms(*(column[numbers] for column in columns)),
        strict=True,
    )
    for row in rows:
        yield {"judgement": GroupOpinions(evaluator(opinions), *row)}


def _others(opinions: Opinions, burrow: Bytes, word: Bytes) -> list[str]:
    if opinions.judgement.decides:
        return [STATUSES[status] for status in burrow.tolist()]
    return _names(word)


def _names(words: Bytes) -> list[Any]:
    return [WORDS[word] for word in words.tolist()]


def _rhythms(*columns: AnyArray) -> Iterator[Rhythm]:
    gap_s, pause_s, period_s = (_seconds(column) for column in columns)
    return map(Rhythm, gap_s, pause_s, period_s)


def _seconds(column: AnyArray) -> Sequence[float | None]:
    """0 is not known."""
    return [round(value, DIGITS) or None for value in column.tolist()]
