"""Burrow's storage scenarios through the production windows."""

from typing import Any, Protocol

import pyarrow as pa
from conformance.conftest import RecordCase, Vectors
from windows.batches import COMMITS
from windows.model import Model, Slot

from warren.config.groups import GroupFilter
from warren.evaluate.verdicts import Settings, judge
from warren.tables import LOG_ENDS
from warren.windows.view import Partition, detail, histories
from warren.windows.windows import Windows

NOW_S = 2_000_000_000
BASE_MS = (NOW_S - 100) * 1000
CLUSTER = "c1"


# Where Burrow is wrong, the right answer is the model's. Why each departure is right:
DEPARTURES = {
    "what comes before its log end waits": "Burrow drops it: data lost for want of patience",
    "the last commit never moves backwards": "Burrow may expire a group that is alive",
    "a group goes with its last topic": "Burrow calls the empty group OK for ever",
    "a group that never committed is not listed": "Burrow lists it until someone asks for it",
    "partition numbers do not shift": "Burrow leaves out a partition without a log end",
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


def expected_answer(case: dict[str, Any]) -> dict[str, Any]:
    """Burrow's own answer, unless it is wrong."""
    config = case["config"]
    model = Model(config["intervals"], config["min-distance"] * 1000)
    young = [op for op in case["ops"] if op.get("ts", 0) >= (100 - config["expire-group"]) * 1000]
    play(model, config, young)
    groups = model.groups()
    fetched = {group: model.fetch(group) for group in groups}
    right = {
        "consumers_before_fetch": groups,
        "consumers_after_fetch": groups,
        "topics": {
            topic: {
                "offsets": model.topic(topic),
                "consumers": [group for group in groups if topic in fetched[group]],
            }
            for topic in model.ends
        },
        "groups": {
            group: {"last_commit_ts": model.last_ts(group), "fetch": fetched[group]}
            for group in groups
        },
    }
    assert model.departures <= DEPARTURES.keys()
    recorded: dict[str, Any] = case["expect"]
    return right if model.departures else recorded


def answer(case: dict[str, Any]) -> dict[str, Any]:
    config = case["config"]
    windows = Windows(config["intervals"], config["min-distance"], config["expire-group"])
    play(Production(windows), config, case["ops"])
    before = histories(windows).groups
    windows.expire(NOW_S)
    verdicts = judge(histories(windows), Settings(), NOW_S)
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


def shape(partition: Partition, ends: list[int], intervals: int) -> dict[str, Any]:
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


def test_storage_scenarios(vectors: Vectors, record_case: RecordCase) -> None:
    wrong = []
    for case in vectors("storage")["scenarios"]:
        got, expected = answer(case), expected_answer(case)
        record_case(case["id"], got == expected)
        wrong += [] if got == expected else [(case["id"], got, expected)]
    assert wrong == []


def test_group_filter_regexps(vectors: Vectors, record_case: RecordCase) -> None:
    wrong = []
    for case in vectors("storage")["group_filter_regexps"]:
        config = {"group-allowlist": case["regexp"]}
        ok = all(accepts(config, group) for group in case["match"])
        ok &= not any(accepts(config, group) for group in case["no_match"])
        record_case(case["regexp"], ok)
        wrong += [] if ok else [case["regexp"]]
    assert wrong == []
