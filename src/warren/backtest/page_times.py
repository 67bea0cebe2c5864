"""When each partition was bad -> when somebody is paged, by the live rules of incidents.

Goes through the moments of one cluster, for some of its groups, once as configured and once as
proposed. A message counts as delivered at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from warren.backtest.stance import Stance
from warren.backtest.verdict_runs import Question
from warren.evaluate.warren_evaluator import alarms
from warren.model.arrays import Ints
from warren.model.judgement import Word
from warren.model.policies import LinePolicies
from warren.model.silence import Silences
from warren.model.status import Status
from warren.model.verdicts import Edge, GroupVerdicts, PartitionVerdicts, Verdicts
from warren.notify.due_message import DueMessage
from warren.notify.incidents import NOTHING, Record, confirm, trim
from warren.notify.message import Subject
from warren.notify.rounds import NotifierRound
from warren.notify.routing import Routing, status_alarms, worst
from warren.windows.policy_lines import PolicyBook

MS = 1000
DID, WOULD = "did", "would"
PAGES = pa.schema(
    [
        ("side", pa.string()),  # DID or WOULD
        ("cluster", pa.string()),
        ("group", pa.string()),
        ("began_ms", pa.int64()),  # the incident
        ("paged_ms", pa.int64()),  # its first message
        ("ended_ms", pa.int64()),  # null: not within the period
        ("verdict", pa.string()),  # the worst that paged
        ("topic", pa.string()),  # of the partition that was worst first
        ("partition", pa.int32()),
        ("lag", pa.int64()),  # the most of any partition
        ("owner", pa.string()),
        ("notifiers", pa.list_(pa.string())),
        ("messages", pa.int64()),  # that say it is bad
    ]
)


def page_times(runs: pa.Table, question: Question) -> pa.Table:
    """The incidents that somebody is paged about; the runs are of one cluster."""
    cluster = runs["cluster"][0].as_py()
    lines = Lines(runs)
    pages = [
        page
        for side, stance in ((DID, question.did), (WOULD, question.would))
        for page in _Replay(cluster, side, stance, lines).pages(
            question.moments[cluster], [*_changes(runs, lines, side)]
        )
    ]
    return pa.Table.from_pylist(pages, PAGES)


class Lines:
    """Every partition that was ever bad, sorted as on a board."""

    def __init__(self, runs: pa.Table) -> None:
        names = ("group", "topic", "partition")
        keys = [*zip(*(runs[name].to_pylist() for name in names), strict=True)]
        self.keys: list[tuple[str, str, int]] = sorted({*keys})
        places = {key: at for at, key in enumerate(self.keys)}
        self.of_run = [places[key] for key in keys]
        self.groups = tuple(sorted({group for group, _, _ in self.keys}))
        of_group = {group: at for at, group in enumerate(self.groups)}
        group = np.array([of_group[group] for group, _, _ in self.keys], np.int64)
        self.first: Ints = np.searchsorted(group, np.arange(len(self.groups) + 1))

    def policies(self, book: PolicyBook) -> LinePolicies | None:
        if not book.policies:
            return None
        pairs = {key[:2]: 0 for key in self.keys}
        found = {pair: book.of(*pair) for pair in pairs}
        return LinePolicies(book.policies, np.array([found[key[:2]] for key in self.keys]))


class Change(NamedTuple):
    """From one moment on a line says something else."""

    at: int  # place of the moment
    line: int
    begins: bool = False  # ends come first
    word: int = 0
    kept: int = 0  # the same, or the word before STALE
    since_s: int = 0
    lag: int = 0


class _Said(NamedTuple):
    """What the replay said of a line last, and what had been recorded then."""

    word: int = 0  # STALE leaves the word before it
    since_s: int = 0
    is_recorded: bool = False  # `since_s` is
    recorded: tuple[int, int] = (0, 0)  # word and since when
    until: int = -1  # place of the last moment


def _changes(runs: pa.Table, lines: Lines, side: str) -> Iterator[Change]:
    names = ("first", "last", "did", "would", "would_go_on", "word", "since_s", "as_of_s", "lag")
    columns = zip(lines.of_run, *(runs[name].to_pylist() for name in names), strict=True)
    said = dict[int, _Said]()
    for line, first, last, did, would, would_go_on, *recorded, as_of_s, lag in sorted(columns):
        before = said.get(line, _Said())
        if before.until != first - 1:
            before = _Said()
        if side == WOULD:
            word = would_go_on if before.word == Word.WARN else would
            now = _since(before, word, (recorded[0], recorded[1]), as_of_s)
        else:
            word = did
            kept = before.word if word == Word.STALE else word
            now = before._replace(word=kept, since_s=recorded[1])
        said[line] = now._replace(until=last)
        if word:
            about = {"word": word, "kept": now.word, "since_s": now.since_s, "lag": lag}
            yield Change(first, line, begins=True, **about)
            yield Change(last + 1, line)


def _since(before: _Said, word: int, recorded: tuple[int, int], as_of_s: int) -> _Said:
    """Since when a word is said: as recorded, for as long as the replay says what was recorded."""
    now = before._replace(recorded=recorded)
    if word == Word.STALE:
        return now
    agrees = word == recorded[0]
    if word == before.word:
        follows = agrees and before.is_recorded
        since_s = recorded[1] if follows else before.since_s
        return now._replace(since_s=since_s, is_recorded=follows)
    if agrees and recorded != before.recorded:
        return now._replace(word=word, since_s=recorded[1], is_recorded=True)
    return now._replace(word=word, since_s=as_of_s, is_recorded=False)


@dataclass
class _Page:
    """An incident that somebody is paged about."""

    group: str
    began_ms: int
    paged_ms: int
    line: int  # that was worst first
    owner: str
    ended_ms: int | None = None
    worst: int = 0
    lag: int = 0
    messages: int = 0
    notifiers: set[str] = field(default_factory=set)


class _Replay:
    """Round after round, a cluster's groups on one side."""

    def __init__(self, cluster: str, side: str, stance: Stance, lines: Lines) -> None:
        self.cluster, self.side, self.stance, self.lines = cluster, side, stance, lines
        self.policies = lines.policies(PolicyBook(stance.policies, cluster))
        self._word = np.zeros(len(lines.keys), np.uint8)
        self._kept = np.zeros(len(lines.keys), np.uint8)
        self._since_s = np.zeros(len(lines.keys), np.uint32)
        self._heard = np.zeros(len(lines.keys), np.uint8)  # the same of those that page
        self._lag = np.zeros(len(lines.keys), np.int64)
        self._verdicts = _verdicts(lines)
        self._places = {group: at for at, group in enumerate(lines.groups)}
        self._records = dict[Subject, Record]()
        self._open = dict[str, _Page]()  # by the id of the incident
        self._ids = count(1)

    def pages(self, moments: Ints, changes: Sequence[Change]) -> Iterator[dict[str, object]]:
        waiting = sorted(changes, reverse=True)
        found = list[_Page]()
        for at, now_ms in enumerate(moments.tolist()):
            while waiting and waiting[-1].at <= at:
                self._apply(waiting.pop())
            if self._records or self._word.any():
                found += self._round(now_ms)
        for page in (*found, *self._open.values()):
            yield self._told(page)

    def _apply(self, change: Change) -> None:
        self._word[change.line], self._kept[change.line] = change.word, change.kept
        self._since_s[change.line] = change.since_s
        self._lag[change.line] = change.lag

    def _round(self, now_ms: int) -> Iterator[_Page]:
        """One round of the notifiers; returns the pages that have ended."""
        now_s, stance, lines = now_ms // MS, self.stance, self.lines
        if stance.says_words:
            alarm = alarms(self._word, self._kept, self._since_s, now_s, self.policies)
        else:
            alarm = status_alarms(self._word, now_s, self.policies)
        # What pages is worse than what does not, whatever the word.
        told = np.where(self._kept > 0, self._kept, self._word)
        self._heard = np.where(alarm > Status.OK, told, np.uint8(0))
        silences = Silences(stance.silences, self.cluster, now_s)
        said = (lines.groups, lines.first, self._word, alarm, stance.says_words, self.policies)
        this = NotifierRound(
            self.cluster,
            self._records,
            stance.notifiers,
            now_ms,
            new_id=lambda: str(next(self._ids)),
            routing=Routing(*said, silences),
        )
        bad = np.maximum(worst(alarm, lines.first), np.uint8(Status.OK))
        this.judge_groups(self._verdicts, bad)
        before = {subject: self._records.get(subject, NOTHING).id for subject in this.changes}
        for subject, record in this.changes.items():
            self._keep(subject, record)
        for by_subject in this.due.values():
            for message in (each for due in by_subject.values() for each in due):
                self._deliver(message, now_ms)
        yield from self._ended(before, now_ms)
        self._note_worst()

    def _keep(self, subject: Subject, record: Record | None) -> None:
        if record is None:
            self._records.pop(subject, None)
        else:
            self._records[subject] = record

    def _deliver(self, message: DueMessage, now_ms: int) -> None:
        subject, notice = message.subject, message.notice
        record = confirm(self._records.get(subject, NOTHING), notice)
        self._keep(subject, trim(record, Status.OK, self.stance.notifiers, now_ms))
        if notice.event != "open":
            return
        page = self._open.get(notice.id)
        if page is None:
            line = self._worst_line(subject.group)
            page = _Page(subject.group, notice.start_ms, now_ms, line, message.owner)
            self._open[notice.id] = page
        page.messages += 1
        page.notifiers.add(notice.module)

    def _ended(self, before: dict[Subject, str], now_ms: int) -> Iterator[_Page]:
        for subject, incident in before.items():
            is_over = incident != self._records.get(subject, NOTHING).id
            if is_over and incident in self._open:
                page = self._open.pop(incident)
                page.ended_ms = now_ms
                yield page

    def _note_worst(self) -> None:
        for page in self._open.values():
            line = self._worst_line(page.group)
            page.worst = max(page.worst, int(self._heard[line]))
            page.lag = max(page.lag, int(self._lag[self._of(page.group)].max()))

    def _worst_line(self, group: str) -> int:
        some = self._of(group)
        return int(some.start + self._heard[some].argmax())

    def _of(self, group: str) -> slice:
        at = self._places[group]
        return slice(int(self.lines.first[at]), int(self.lines.first[at + 1]))

    def _told(self, page: _Page) -> dict[str, object]:
        _, topic, partition = self.lines.keys[page.line]
        words: type[Word | Status] = Word if self.stance.says_words else Status
        return {
            "side": self.side,
            "cluster": self.cluster,
            "group": page.group,
            "began_ms": page.began_ms,
            "paged_ms": page.paged_ms,
            "ended_ms": page.ended_ms,
            "verdict": words(page.worst).name,
            "topic": topic,
            "partition": partition,
            "lag": page.lag,
            "owner": page.owner,
            "notifiers": sorted(page.notifiers),
            "messages": page.messages,
        }


def _verdicts(lines: Lines) -> Verdicts:
    """Of these a round needs the names: what is bad comes beside them."""
    of_lines, of_groups = len(lines.keys), len(lines.groups)
    ints, bytes_ = np.zeros(of_lines, np.int64), np.zeros(of_lines, np.uint8)
    codes, seconds = np.zeros(of_lines, np.int32), np.zeros(of_lines, np.uint32)
    counts, parts = np.zeros(of_lines, np.uint16), np.zeros(of_lines, np.float32)
    edge, none = Edge(ints, ints, seconds, ints), np.zeros(of_groups, np.int64)
    statuses, shares = np.zeros(of_groups, np.uint8), np.zeros(of_groups, np.float32)
    return Verdicts(
        0,
        lines.groups,
        (),
        (),
        GroupVerdicts(lines.first, none, statuses, shares, none, none, none, none),
        PartitionVerdicts(
            *(codes, codes, bytes_, bytes_, counts, parts, ints, edge, edge, codes, codes, ints)
        ),
    )
