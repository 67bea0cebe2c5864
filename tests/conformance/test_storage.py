"""Burrow's storage scenarios through the production windows."""

import copy
import json
import os
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
from conformance.conftest import RecordCase, Vectors
from support.batches import COMMITS
from support.config_files import MINIMAL, problems_of
from support.window_model import Model, Slot

from warren.evaluate.judge import JudgeSettings, judge
from warren.model.group_filter import GroupFilter
from warren.model.tables import LOG_ENDS
from warren.windows.window_reader import PartitionWindow, detail, window_arrays
from warren.windows.windows import Windows

NOW_S = 2_000_000_000
BASE_MS = (NOW_S - 100) * 1000
CLUSTER = "c1"

Answer = dict[str, Any]
Fetched = dict[str, list[dict[str, Any]]]


# Where Warren differs from Burrow on purpose: why, and in which of our cases.
WAITS = "what comes before its log end waits: Burrow drops it, data lost for want of patience"
LAST = "the last commit never moves backwards: Burrow may expire a group that is alive"
EMPTY = "a group goes with its last topic: Burrow calls the empty group OK for ever"
UNCOMMITTED = (
    "a group that never committed is not listed: Burrow lists it until someone asks for it"
)
SHIFTED = "partition numbers do not shift: Burrow leaves out a partition without a log end"
REFUSED = "refused by configuration: Burrow starts, and crashes on it later"
ON_PURPOSE = {
    WAITS: ["probe-partition-expansion", "fuzz-0142"],
    LAST: [
        *("fuzz-0005", "fuzz-0011", "fuzz-0014", "fuzz-0024", "fuzz-0031", "fuzz-0052"),
        *("fuzz-0062", "fuzz-0065", "fuzz-0071", "fuzz-0076", "fuzz-0079", "fuzz-0099"),
        *("fuzz-0103", "fuzz-0110", "fuzz-0116", "fuzz-0118"),
    ],
    EMPTY: ["burrow-delete-topic"],
    UNCOMMITTED: [
        "burrow-owner-two-groups-consumers-for-topic",
        "probe-owner-only-group-purged-on-fetch",
    ],
    SHIFTED: [
        "probe-leaderless-partition-shifts-topic-offsets",
        "probe-leaderless-partition-commit-dropped",
    ],
    REFUSED: [],
}


class Storage(Protocol):
    """What a scenario does, done to the windows and to the model alike."""

    def log_end(self, topic: str, partition: int, count: int, offset: int) -> None: ...
    def commit(self, group: str, topic: str, partition: int, new: Slot) -> None: ...
    def own(self, group: str, topic: str, partition: int, owner: tuple[str, str]) -> None: ...
    def clear_owners(self, group: str) -> None: ...
    def delete_group(self, group: str, topic: str | None) -> None: ...
    def delete_topic(self, topic: str) -> None: ...


class Production:
    """The windows, with a scenario's times."""

    def __init__(self, windows: Windows) -> None:
        self.windows = windows
        self.clear_owners = windows.clear_owners
        self.delete_group = windows.delete_group
        self.delete_topic = windows.delete_topic

    def log_end(self, topic: str, partition: int, count: int, offset: int) -> None:
        line = {"topic": topic, "partition": partition, "offset": offset}
        self.windows.set_log_ends(pa.Table.from_pylist([line], LOG_ENDS), {topic: count})

    def commit(self, group: str, topic: str, partition: int, new: Slot) -> None:
        line = (group, topic, partition, new.offset, BASE_MS + new.ts, new.order)
        batch = pa.Table.from_pylist([dict(zip(COMMITS.names, line, strict=True))], COMMITS)
        self.windows.fold(batch, NOW_S)

    def own(self, group: str, topic: str, partition: int, owner: tuple[str, str]) -> None:
        """Burrow is told of owners one by one, the windows of all of a group at once."""
        parts = detail(self.windows, group)
        assignment = {
            (name, number): (part.owner, part.client_id)
            for name, parts_of_topic in parts.items()
            for number, part in enumerate(parts_of_topic)
            if part.owner or part.client_id
        }
        self.windows.set_owners(group, assignment | {(topic, partition): owner})


def play(  # noqa: C901 - one case for each kind of step
    storage: Storage, config: dict[str, Any], ops: list[dict[str, Any]]
) -> None:
    for op in ops:
        match op:
            case {"group": g} if not accepts(config, g):
                pass
            case {"op": "broker", "topic": t, "partition": p, "partition_count": n}:
                storage.log_end(t, p, n, op["offset"])
            case {"op": "repeat_broker", "topic": t, "partition": p, "partition_count": n}:
                for offset in range(op["offset_from"], op["offset_to"] + 1, op["step"]):
                    storage.log_end(t, p, n, offset)
            case {"op": "commit"} if op.get("cluster", CLUSTER) == CLUSTER:
                slot = Slot(op["offset"], op["order"], op["ts"])
                storage.commit(op["group"], op["topic"], op["partition"], slot)
            case {"op": "owner", "group": g, "topic": t, "partition": p}:
                storage.own(g, t, p, (op["owner"], op["client_id"]))
            case {"op": "clear_owners", "group": g}:
                storage.clear_owners(g)
            case {"op": "delete_group", "group": g}:
                storage.delete_group(g, op.get("topic"))
            case {"op": "delete_topic", "topic": t}:
                storage.delete_topic(t)


def accepts(config: dict[str, Any], group: str) -> bool:
    lists = GroupFilter(config.get("group-allowlist", ""), config.get("group-denylist", ""))
    return lists.accepts(group)


class Expected(NamedTuple):
    answer: Answer
    differs: set[str]  # why it is not Burrow's


def expected_answer(case: dict[str, Any]) -> Expected:
    """Burrow's own answer, except for the very places where a difference is on purpose."""
    burrow: Answer = copy.deepcopy(case["expect"])
    model, differs = played(case), set[str]()
    for group in [g for g, told in burrow["groups"].items() if not told["fetch"]]:
        # None: it has owners and no commits. {}: it had topics, and they are gone.
        if group not in model.groups():
            differs.add(UNCOMMITTED if burrow["groups"][group]["fetch"] is None else EMPTY)
            forget(burrow, group)
    for topic, told in burrow["topics"].items():
        if None in model.topic(topic):
            differs.add(SHIFTED)
            told["offsets"] = unshifted(told["offsets"], model.topic(topic))
    for group in model.groups():
        told = burrow["groups"].get(group, {})
        told["fetch"] = told.get("fetch") or {}
        waited = {(topic, part) for of, topic, part in model.waited if of == group}
        if put_waited(told["fetch"], model.fetch(group), waited):
            differs.add(WAITS)
            remember(burrow, group, told)
        burrows, ours = told.get("last_commit_ts", 0), model.last_ts(group)
        if ours > burrows or (waited and ours != burrows):
            differs.add(WAITS if waited else LAST)
            told["last_commit_ts"] = ours
    return Expected(burrow, differs)


def played(case: dict[str, Any]) -> Model:
    config = case["config"]
    model = Model(config["intervals"], config["min-distance"] * 1000)
    young = [op for op in case["ops"] if op.get("ts", 0) >= (100 - config["expire-group"]) * 1000]
    play(model, config, young)
    return model


def forget(answer: Answer, group: str) -> None:
    del answer["groups"][group]
    places = [told["consumers"] for told in answer["topics"].values()]
    for names in (answer["consumers_before_fetch"], answer["consumers_after_fetch"], *places):
        if group in names:
            names.remove(group)


def remember(answer: Answer, group: str, told: dict[str, Any]) -> None:
    """A group, or a topic of it, that is there only because something waited."""
    answer["groups"][group] = told
    places = [answer["topics"][topic]["consumers"] for topic in told["fetch"]]
    for names in (answer["consumers_before_fetch"], answer["consumers_after_fetch"], *places):
        if group not in names:
            names.append(group)
            names.sort()


def unshifted(squeezed: list[int], right: list[int | None]) -> list[int | None]:
    """Burrow's ends in order, at the places that have one."""
    ends = iter(squeezed)
    return [None if end is None else next(ends, None) for end in right]


def put_waited(burrow: Fetched, model: Fetched, waited: set[tuple[str, int]]) -> bool:
    """Put what waited into Burrow's answer, and nothing else; says whether that changed it."""
    before = copy.deepcopy(burrow)
    for topic, number in waited:
        if number >= len(model.get(topic, [])):
            continue  # it waits still
        # Partitions that nobody touched are as empty in the one as in the other.
        parts = burrow.setdefault(topic, copy.deepcopy(model[topic]))
        parts += model[topic][len(parts) : number + 1]
        parts[number] = model[topic][number]
    return burrow != before


def answer(case: dict[str, Any]) -> dict[str, Any]:
    config = case["config"]
    windows = Windows(config["intervals"], config["min-distance"], config["expire-group"])
    play(Production(windows), config, case["ops"])
    before = window_arrays(windows).groups
    windows.expire(NOW_S)
    verdicts = judge(window_arrays(windows), JudgeSettings(), NOW_S)
    fetched = {group: fetch(windows, group) for group in verdicts.names}
    last_ms = dict(zip(verdicts.names, verdicts.groups.last_commit_ms.tolist(), strict=True))
    return {
        "consumers_before_fetch": [*before],
        "consumers_after_fetch": [*verdicts.names],
        "topics": {
            topic: {
                "offsets": windows.ends.newest(topic),
                "consumers": [group for group in verdicts.names if topic in fetched[group]],
            }
            for topic in windows.ends.topics.ids
        },
        "groups": {
            group: {"last_commit_ts": last_ms[group] - BASE_MS, "fetch": fetched[group]}
            for group in verdicts.names
        },
    }


def fetch(windows: Windows, group: str) -> dict[str, Any]:
    return {
        topic: [
            shape(partition, ends, windows.intervals)
            for partition, ends in zip(partitions, windows.ends.recent(topic), strict=False)
        ]
        for topic, partitions in detail(windows, group).items()
    }


def shape(partition: PartitionWindow, ends: list[int], intervals: int) -> dict[str, Any]:
    slots = [
        {
            "offset": commit.offset,
            "order": commit.order,
            "ts": commit.committed_ms - BASE_MS,
            "lag": None if commit.lag < 0 else commit.lag,
        }
        for commit in partition.commits
    ]
    touched = slots or partition.owner or partition.client_id
    return {
        "slots": [None] * (intervals - len(slots) if touched else 0) + slots,
        "owner": partition.owner,
        "client_id": partition.client_id,
        "current_lag": partition.current_lag,
        "broker_offsets": ends,
    }


def is_refused(config: dict[str, Any], folder: Path) -> bool:
    """Whether Warren starts with these settings of storage at all."""
    settings = {"class-name": "inmemory", **config}
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    return problems_of(folder, "\n".join([MINIMAL, "[storage.s]", *lines])) != []


def test_storage_scenarios(vectors: Vectors, record_case: RecordCase, tmp_path: Path) -> None:
    wrong: list[tuple[str, object, object]] = []
    different: dict[str, list[str]] = {reason: [] for reason in ON_PURPOSE}
    for case in vectors("storage")["scenarios"]:
        if is_refused(case["config"], tmp_path):
            crashes_burrow = case["config"].get("intervals", 10) < 1
            record_case(case["id"], crashes_burrow)
            wrong += [] if crashes_burrow else [(case["id"], case["config"], {})]
            different[REFUSED].append(case["id"])
            continue
        got, expected = answer(case), expected_answer(case)
        record_case(case["id"], got == expected.answer)
        wrong += [] if got == expected.answer else [(case["id"], got, expected.answer)]
        for reason in expected.differs:
            different[reason].append(case["id"])
    assert wrong == []
    if "WARREN_VECTORS" not in os.environ:
        assert different == ON_PURPOSE


def test_a_case_that_burrow_crashes_on_is_refused_and_does_not_end_the_run(tmp_path: Path) -> None:
    config = {"intervals": 10, "min-distance": 1, "expire-group": 604800}

    assert is_refused({**config, "intervals": 0}, tmp_path)
    assert not is_refused({**config, "group-denylist": "^g"}, tmp_path)


def test_group_filter_regexps(vectors: Vectors, record_case: RecordCase) -> None:
    wrong = []
    for case in vectors("storage")["group_filter_regexps"]:
        config = {"group-allowlist": case["regexp"]}
        ok = all(accepts(config, group) for group in case["match"])
        ok &= not any(accepts(config, group) for group in case["no_match"])
        record_case(case["regexp"], ok)
        wrong += [] if ok else [case["regexp"]]
    assert wrong == []
