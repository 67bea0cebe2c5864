"""Runs scenarios through the production code: what was said when, and who was told.

Records are decoded and folded, log ends taken in, groups judged and incidents opened by the steps
that `warren serve` runs. Only the clock is simulated, and the brokers' answers are the scenarios'.

Scenarios whose brokers are read alike share a cluster, each with groups and topics of its own: one
tick judges them all.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import re2
from support.scenario_log import BEGIN_S, ScenarioLog, Written, records_table

from warren.config import Consumer, PolicySettings, Storage
from warren.config.files import Environment
from warren.config.findings import Findings
from warren.config.values import SectionReader
from warren.evaluate.judge import JudgeSettings
from warren.model.arrays import Bytes
from warren.model.board import Board, ClusterBoard, SharedFile, StoredWindows
from warren.model.judgement import Word
from warren.model.policies import Policy as GroupPolicy
from warren.model.status import Status
from warren.model.tables import LOG_ENDS
from warren.model.topic_facts import ClusterFacts, TopicFacts
from warren.model.verdicts import Verdicts
from warren.model.window_arrays import WindowArrays
from warren.notify.incidents import Policy as PagingPolicy
from warren.notify.incidents import Record
from warren.notify.message import Subject
from warren.notify.rounds import CurrentClusters, NotifierRound
from warren.pipeline import health_report
from warren.pipeline.cluster import Accepts, new_cluster
from warren.pipeline.consumers import Sources, TopicConsumer
from warren.pipeline.probes import Places, found_in
from warren.pipeline.steps import decoded, fold, judge_cluster, refresh_edges
from warren.sources.group_offsets import OFFSETS_TOPIC
from warren.sources.log_edges import Asked, Edges
from warren.sources.log_ends import EARLIEST, Partition, TopicListing, as_table
from warren.sources.offsets_topic import Batch
from warren.windows import probed

TICK_S = 10
OFFSET_REFRESH_S = 10
NO_ANSWER = "no answer in time"
NEVER = float("inf")
PERIODS = ("max-time-lag", "grace", "schedule")
EVALUATORS = ("warren", "caching")

Scenario = Mapping[str, Any]
Line = tuple[str, str, int]  # group, topic and partition


class Number(NamedTuple):
    low: float
    high: float


@dataclass
class Said:
    """Everything that came out of one scenario, by time since its beginning."""

    ticks: list[float] = field(default_factory=list)
    words: dict[Line, list[tuple[float, str]]] = field(default_factory=dict)  # where they change
    opened: dict[str, list[float]] = field(default_factory=dict)  # by group
    closed: dict[str, list[float]] = field(default_factory=dict)
    lags: dict[str, list[tuple[float, int]]] = field(default_factory=dict)  # by group, at each tick
    numbers: dict[tuple[str, float, Line], Number] = field(default_factory=dict)  # lag or age first

    def word(self, line: Line, at_s: float) -> str:
        """The last word that was said until then; empty: none."""
        return next(
            (word for since, word in reversed(self.words.get(line, ())) if since <= at_s), ""
        )


class Heard:
    """What one of the evaluators says, and whom the notifiers tell because of it."""

    def __init__(self, evaluator: str, scenarios: Mapping[str, Scenario]) -> None:
        self.evaluator = evaluator
        self.said = {prefix: Said() for prefix in scenarios}
        self._until = {prefix: each["until"] for prefix, each in scenarios.items()}
        self._lines = Lines()
        self._currents = CurrentClusters()
        self._records: dict[Subject, Record] = {}
        self._policy = {"page": PagingPolicy("page")}

    def listen(self, board: Board, moment_s: float) -> None:
        cluster = board.clusters["c"]
        judgement = cluster.judgement
        assert judgement is not None
        words: type[Status | Word]
        if self.evaluator == "warren":
            codes, words, alarms = judgement.word, Word, judgement.pages
        else:
            codes, words, alarms = judgement.burrow, Status, judgement.group_burrow
        for at, (prefix, line) in self._lines.changed(cluster.verdicts, codes):
            word = words(codes[at]).name
            self.said[prefix].words.setdefault(line, []).append((moment_s, word))
        self._tell(board, alarms, moment_s)

    def _tell(self, board: Board, alarms: Bytes, moment_s: float) -> None:
        """One round of the notifiers over the clusters that are current."""
        for current in self._currents.of(board, 0):
            this = NotifierRound("c", self._records, self._policy, board.moment_ms, current=current)
            this.judge_groups(board.clusters["c"].verdicts, alarms)
            for subject, record in this.changes.items():
                self._note_incident(subject, record, moment_s)

    def _note_incident(self, subject: Subject, record: Record | None, moment_s: float) -> None:
        before = self._records.pop(subject, None)
        if record is not None:
            self._records[subject] = record
        was, now = before.id if before else "", record.id if record else ""
        prefix, group = _apart(subject.group)
        if was != now and moment_s <= self._until.get(prefix, -1):
            said = self.said[prefix]
            if was:
                said.closed.setdefault(group, []).append(moment_s)
            if now:
                said.opened.setdefault(group, []).append(moment_s)

    def note_numbers(
        self, board: ClusterBoard, prefix: str, scenario: Scenario, moment_s: float
    ) -> None:
        for name in ("lag", "age"):
            for at_s, group, topic, partition, _ in scenario.get(name, ()):
                if at_s == moment_s:
                    line = (group, topic, partition)
                    number = self._number(board, name, prefix, line)
                    self.said[prefix].numbers[name, at_s, line] = number

    def _number(self, board: ClusterBoard, name: str, prefix: str, line: Line) -> Number:
        at = self._lines.places.get((prefix, line))
        if at is None:
            return Number(float("nan"), float("nan"))
        each = board.numbers.partitions
        if name == "age":
            return Number(float(each.age_low_s[at]), float(each.age_high_s[at]))
        return Number(float(each.lag_low[at]), float(each.lag_high[at]))


class Run:
    """Some scenarios in one cluster, on one simulated clock."""

    def __init__(
        self,
        scenarios: Sequence[Scenario],
        *,
        delay_s: float = 0.0,
        watch: Callable[[float, ClusterBoard], None] = lambda _moment_s, _board: None,
    ) -> None:
        self.delay_s = delay_s
        self.watch = watch  # sees the board of every tick
        self.refresh_s = refresh_of(scenarios[0])
        self.scenarios = {f"{number}.": each for number, each in enumerate(scenarios)}
        self.logs = {
            prefix: ScenarioLog.of(each["topics"], prefix)
            for prefix, each in self.scenarios.items()
        }
        for prefix, each in self.scenarios.items():
            self.logs[prefix].clock_s = each.get("settings", {}).get("commit_clock_s", 0.0)
        self.asked = {prefix: asked(each) for prefix, each in self.scenarios.items()}
        self.heard = {name: Heard(name, self.scenarios) for name in EVALUATORS}
        self.now_s = 0.0
        policies = [*_policies(self.scenarios)]
        self.cluster = new_cluster("c", Storage(name="default"), policies)
        self.cluster.clock = lambda: BEGIN_S + self.now_s
        self.counts: dict[str, int] = {}
        for log in self.logs.values():
            self.counts |= log.partition_counts
        leaders = {where: 1 for log in self.logs.values() for where in log.logs}
        self.cluster.topics = TopicListing(self.counts | {OFFSETS_TOPIC: 1}, leaders, {})
        consumer = Consumer(name="c", cluster="c", servers=("nowhere:9092",))
        self.consumer = TopicConsumer(consumer, self.cluster, Accepts())
        self.consumer.notice_growth()
        self.consumer.progress.begin({0: 0}, BEGIN_S)
        self.cluster.facts = facts_of(self.logs.values())
        self._unread: list[Written] = []
        self._written = 0

    def until_the_end(self) -> None:
        events = iter(_in_order(self.scenarios))
        ahead = next(events, None)
        for moment_s, is_tick in self._moments():
            while ahead is not None and ahead[0] <= moment_s:
                self.logs[ahead[1]].apply(ahead[2])
                ahead = next(events, None)
            self.now_s = moment_s
            is_away = any(log.is_away for log in self.logs.values())
            if not is_away:
                self._read(moment_s)
            self.cluster.problem = NO_ANSWER if is_away else ""
            if is_tick:
                self._judge(moment_s)

    def _moments(self) -> Iterator[tuple[float, bool]]:
        """When something is read or judged, and whether it is judged."""
        until = max(each["until"] for each in self.scenarios.values())
        ticks = {float(at) for at in range(0, int(until) + 1, TICK_S)}
        ticks |= {at for each in self.asked.values() for at in each}
        reads = {float(at) for at in np.arange(0, until + 1e-9, self.refresh_s)}
        for at in sorted(ticks | reads):
            yield at, at in ticks

    def _read(self, moment_s: float) -> None:
        if moment_s % self.refresh_s == 0:
            self._read_ends(moment_s)
        for log in self.logs.values():
            self._unread += log.fresh
            self._written += len(log.fresh)
            log.fresh = []
        progress, written = self.consumer.progress, {0: self._written}
        progress.see_ends(written, written, BEGIN_S + moment_s, dict(progress.position))
        count = sum(each.at_s <= moment_s - self.delay_s for each in self._unread)
        if count:
            first = self._written - len(self._unread)
            table = records_table(self._unread[:count], first)
            del self._unread[:count]
            batch = decoded(Batch(table, {0: first + count}))
            fold(self.consumer, batch, BEGIN_S + moment_s)

    def _read_ends(self, moment_s: float) -> None:
        every = [each for log in self.logs.values() for each in log.logs.items()]
        logs = [(where, log) for where, log in every if not log.is_away]
        columns = [
            [topic for (topic, _), _ in logs],
            [partition for (_, partition), _ in logs],
            [log.end(moment_s) for _, log in logs],
        ]
        ends = pa.table([*map(pa.array, columns)], names=LOG_ENDS.names).cast(LOG_ENDS)
        self.cluster.windows.set_log_ends(ends, self.counts, now_s=BEGIN_S + moment_s)
        self.cluster.ends_s = BEGIN_S + moment_s
        refresh_edges(self.cluster, self._edges)

    def _edges(self, leaders: Mapping[Partition, int], asked: Asked) -> Edges:
        """What the brokers would answer."""
        logs = {where: log.logs[where] for log in self.logs.values() for where in log.logs}
        chosen = {each: edge for each, edge in asked.items() if each in leaders}
        starts = {each: logs[each].start for each in chosen if chosen[each] is EARLIEST}
        stable = {each: logs[each].stable_end(self.now_s) for each in chosen.keys() - starts.keys()}
        return Edges(as_table(starts), as_table(stable), {})

    def _answer_probes(self, moment_s: float) -> None:
        """The reads of first records that the last tick asked for."""
        chosen, self.cluster.targets.tails = self.cluster.targets.tails, None
        if chosen is None or self.cluster.problem:
            return
        logs = {where: log.logs[where] for log in self.logs.values() for where in log.logs}
        for (partition, first), lines in Places(chosen).lines.items():
            tail = logs[partition].tail(moment_s, first)
            answer = found_in(tail, tail.offset, int((BEGIN_S + moment_s) * 1000))
            for group, commit in lines:
                of_line = answer._replace(offset=commit)
                probed.note(self.cluster.windows, group, *partition, of_line)

    def _judge(self, moment_s: float) -> None:
        now = BEGIN_S + moment_s
        sources, settings = Sources([self.consumer]), JudgeSettings(says_words=True)
        self._answer_probes(moment_s)
        board = judge_cluster(self.cluster, sources, settings, int(now), _store)
        self.watch(moment_s, board)
        consumers = {"c": self.consumer}
        health = health_report.describe(
            {"c": self.cluster}, consumers, {}, {"c": board}, now, ready=True
        )
        whole = Board(int(now * 1000), {"c": board}, health)
        lags = dict(
            zip(board.verdicts.names, board.verdicts.groups.total_lag.tolist(), strict=True)
        )
        for heard in self.heard.values():
            heard.listen(whole, moment_s)
            for name, lag in lags.items():
                prefix, group = _apart(name)
                if prefix:
                    heard.said[prefix].lags.setdefault(group, []).append((moment_s, lag))
            for prefix, scenario in self.scenarios.items():
                is_asked = moment_s in self.asked[prefix]
                if is_asked:
                    heard.note_numbers(board, prefix, scenario, moment_s)
                if moment_s <= scenario["until"] and (moment_s % TICK_S == 0 or is_asked):
                    heard.said[prefix].ticks.append(moment_s)


class Lines:
    """Which line of a board is about what, and which of them changed since the one before."""

    def __init__(self) -> None:
        self.places: dict[tuple[str, Line], int] = {}
        self._keys: list[tuple[str, Line]] = []
        self._names: tuple[object, ...] = ()
        self._codes: np.ndarray[Any, Any] = np.zeros(0, np.uint8)

    def changed(
        self, verdicts: Verdicts, codes: np.ndarray[Any, Any]
    ) -> Iterator[tuple[int, tuple[str, Line]]]:
        names = (verdicts.names, verdicts.topics, len(codes))
        if names != self._names:
            before = dict(zip(self._keys, self._codes.tolist(), strict=True))
            self._names, self._keys = names, [*_keys(verdicts)]
            self.places = {key: at for at, key in enumerate(self._keys)}
            self._codes = np.array([before.get(key, 255) for key in self._keys], np.uint8)
        changes = np.flatnonzero(self._codes != codes).tolist()
        self._codes = codes.copy()
        return ((at, self._keys[at]) for at in changes if self._keys[at][0])


def _keys(verdicts: Verdicts) -> Iterable[tuple[str, Line]]:
    group = np.repeat(np.arange(len(verdicts.names)), np.diff(verdicts.groups.first))
    columns = (group, verdicts.partitions.topic, verdicts.partitions.partition)
    for of_group, topic, partition in zip(*(each.tolist() for each in columns), strict=True):
        prefix, name = _apart(verdicts.names[of_group])
        yield prefix, (name, verdicts.topics[topic].removeprefix(prefix), partition)


def _apart(name: str) -> tuple[str, str]:
    """The prefix of a scenario and the name in it; our own progress has no prefix."""
    number, dot, rest = name.partition(".")
    return (number + dot, rest) if number.isdigit() else ("", name)


def _in_order(scenarios: Mapping[str, Scenario]) -> list[tuple[float, str, Sequence[Any]]]:
    events = [
        (float(event[0]), prefix, event)
        for prefix, each in scenarios.items()
        for event in each["events"]
    ]
    return sorted(events, key=lambda event: event[0])


def _policies(scenarios: Mapping[str, Scenario]) -> Iterator[GroupPolicy]:
    """The policy of each group that has one, read as from a file."""
    for prefix, scenario in scenarios.items():
        for group, keys in scenario.get("settings", {}).get("policy", {}).items():
            name = prefix + group
            findings = Findings()
            section = SectionReader(Environment({}, ""), findings).section(
                PolicySettings, f"policy.{name}", _as_written(keys)
            )
            assert not [*findings.problems, *findings.unknown], findings
            policy = section.policy()
            topics = (f"{re2.escape(prefix)}(?:{each})" for each in policy.topics)
            yield policy._replace(groups=(re2.escape(name),), topics=tuple(topics))


def facts_of(logs: Iterable[ScenarioLog]) -> ClusterFacts:
    """What the brokers' configuration says: how long topics keep records, as far as they say it."""
    kept = {topic: each for log in logs for topic, each in log.retention_s.items()}
    topics = {
        topic: TopicFacts(int(seconds * 1000), None, is_compacted=False, is_deleted=True)
        for topic, seconds in kept.items()
    }
    return ClusterFacts(topics)


def _store(_cluster: str, _view: WindowArrays) -> StoredWindows:
    return StoredWindows(FILE, 10, np.zeros(0, np.int32))


FILE = SharedFile()


def _as_written(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Periods are text in a file; a scenario may have them as seconds."""
    return {
        name: str(round(value)) if name in PERIODS and not isinstance(value, str) else value
        for name, value in keys.items()
    }


def refresh_of(scenario: Scenario) -> float:
    return float(scenario.get("settings", {}).get("offset_refresh_s", OFFSET_REFRESH_S))


def asked(scenario: Scenario) -> set[float]:
    """When a number is asked for."""
    return {float(each[0]) for name in ("lag", "age") for each in scenario.get(name, ())}


def run(scenarios: Sequence[Scenario], *, delay_s: float = 0.0) -> dict[str, list[Said]]:
    """By evaluator, what was said of each: they judge the same evidence at every tick.

    Those whose brokers are read at the same times run together.
    """
    alike: dict[tuple[object, ...], list[int]] = {}
    for at, each in enumerate(scenarios):
        away = tuple(event[0] for event in each["events"] if event[1] == "broker")
        alike.setdefault((refresh_of(each), away), []).append(at)
    said: dict[str, dict[int, Said]] = {name: {} for name in EVALUATORS}
    for places in alike.values():
        together = Run([scenarios[at] for at in places], delay_s=delay_s)
        together.until_the_end()
        for name, heard in together.heard.items():
            said[name] |= dict(zip(places, heard.said.values(), strict=True))
    return {name: [each[at] for at in range(len(scenarios))] for name, each in said.items()}
