"""Burrow's evaluator cases through the production rules and verdicts."""

from typing import Any

import numpy as np
import pyarrow as pa
from conformance.conftest import RecordCase, Vectors
from support.sample_windows import Past, Slot, history

from warren.evaluate import rules
from warren.evaluate.judge import JudgeSettings, judge
from warren.model.status import Status
from warren.model.tables import LOG_ENDS
from warren.model.verdicts import Verdicts
from warren.model.window_arrays import WindowArrays
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

NOW_S = 2_000_000_000

# Where Burrow is wrong: the right answer, and why.
RIGHT_INSTEAD: dict[str, tuple[dict[str, Any], str]] = {
    "owner-only-ring-all-empty": ({"complete": 0.0}, "no commit is not one commit"),
    "owner-only-ring-all-empty-1-interval": ({"complete": 0.0}, "no commit is not one commit"),
    "burrow-only-topic-deleted": ({"status": "NOTFOUND"}, "a group goes with its last topic"),
    "probe-no-topics": ({"status": "NOTFOUND"}, "a group goes with its last topic"),
}


def past(slots: list[dict[str, Any] | None], case: dict[str, Any]) -> Past:
    window = [
        None if slot is None else Slot(slot["offset"], slot["timestamp"], slot["lag"])
        for slot in slots
    ]
    return Past(window, case["current_lag"], case["broker_offsets"])


def status(verdicts: Verdicts, partition: int = 0) -> str:
    return Status(verdicts.partitions.status[partition]).name


def rule_answers(shown: WindowArrays, case: dict[str, Any]) -> dict[str, Any]:
    """Each rule by itself, and the status they come to."""
    allowed, now_s = case["allowed_lag"], case["time_now_s"]
    verdicts = judge(shown, JudgeSettings(allowed_lag=allowed), now_s)
    return {
        "lag_always_above_allowed": not rules.was_caught_up(shown.lag, allowed)[0],
        "rewound": bool(rules.has_rewound(shown.offset)[0]),
        "stopped": bool(rules.has_stopped(shown.committed_ms, now_s * 1000)[0]),
        "stalled": bool(rules.has_stalled(shown.offset)[0]),
        "lag_not_decreasing": bool(rules.is_falling_behind(shown.lag)[0]),
        "recent_lag_zero": bool(rules.was_at_the_end(shown.offset, shown.lowest_end)[0]),
        "status": status(verdicts),
        "status_code": int(verdicts.partitions.status[0]),
    }


def test_rules(vectors: Vectors, record_case: RecordCase) -> None:
    wrong = []
    for case in vectors("evaluator")["rules"]:
        expected = dict(case["expected"])
        recovered, index = expected.pop("rewind_recovered"), expected.pop("first_rewind_index")
        expected["rewound"] = index >= 0 and not recovered
        got = rule_answers(history([past(case["offsets"], case)]), case)
        record_case(case["id"], got == expected)
        wrong += [] if got == expected else [(case["id"], got, expected)]
    assert wrong == []


def test_completeness(vectors: Vectors, record_case: RecordCase) -> None:
    wrong = []
    for case in vectors("evaluator")["completeness"]:
        settings = JudgeSettings(case["minimum_complete"], case["allowed_lag"])
        shown = history([past(case["offset_slots_oldest_first"], case)])
        partitions = judge(shown, settings, NOW_S).partitions
        has_window = bool(partitions.filled[0])
        got = {
            "status": Status(partitions.status[0]).name,
            "complete": float(partitions.complete[0]),
            "start": int(partitions.start.offset[0]) if has_window else None,
            "end": int(partitions.end.offset[0]) if has_window else None,
        }
        expected = {
            "status": case["status"],
            "complete": float(np.float32(case["complete_json"])),
            "start": case["start_offset"],
            "end": case["end_offset"],
        }
        expected |= RIGHT_INSTEAD.get(case["id"], ({}, ""))[0]
        record_case(case["id"], got == expected)
        wrong += [] if got == expected else [(case["id"], got, expected)]
    assert wrong == []


def kind_past(kind: dict[str, Any]) -> Past:
    slots = [slot and Slot(slot[0], NOW_S * 1000 + slot[1], slot[2]) for slot in kind["offsets"]]
    return Past(slots, kind["current_lag"], [9000])


def group_answer(verdicts: Verdicts, group: str = "g") -> dict[str, Any]:
    line = verdicts.line(group)
    if line is None:
        return {"status": "NOTFOUND"}
    groups = verdicts.groups
    first, last = groups.first[line : line + 2].tolist()
    bad = [n for n in range(first, last) if verdicts.partitions.status[n] > Status.OK]
    return {
        "status": Status(groups.status[line]).name,
        "complete_json": float(groups.complete[line]),
        "partition_count": int(groups.partition_count[line]),
        "lag_endpoint_partitions": last - first,
        "totallag": int(groups.total_lag[line]),
        "maxlag_partition": int(verdicts.partitions.partition[groups.max_lag_line[line]]),
        "partition_statuses": [status(verdicts, n) for n in range(first, last)],
        "status_endpoint_partitions": [
            {"partition": int(verdicts.partitions.partition[n]), "status": status(verdicts, n)}
            for n in bad
        ],
    }


def test_groups_of_partitions(vectors: Vectors, record_case: RecordCase) -> None:
    kinds = vectors("evaluator")["group_kinds"]
    wrong = []
    for case in [case for case in vectors("evaluator")["groups"] if "partition_kinds" in case]:
        pasts = [kind_past(kinds[kind]) for kind in case["partition_kinds"]]
        shown = history(pasts) if pasts else window_arrays(Windows())
        got = group_answer(judge(shown, JudgeSettings(), NOW_S))
        expected = {name: case[name] for name in got}
        if "complete_json" in expected:
            expected["complete_json"] = float(np.float32(expected["complete_json"]))
        expected |= RIGHT_INSTEAD.get(case["id"], ({}, ""))[0]
        record_case(case["id"], got == expected)
        wrong += [] if got == expected else [(case["id"], got, expected)]
    assert wrong == []


def folded(case: dict[str, Any]) -> Windows:
    """Windows after the commits of a case of Burrow's own."""
    windows = Windows(case["intervals"], case["min_distance_s"])
    end = {"topic": "t", "partition": 0, "offset": case["broker_offset"]}
    windows.set_log_ends(pa.Table.from_pylist([end], LOG_ENDS), {"t": 1})
    lines = [
        {
            "group": "g",
            "topic": "t",
            "partition": 0,
            "offset": commit["offset"],
            "committed_ms": NOW_S * 1000 + commit["ts_rel_ms"],
            "order": commit["order"],
        }
        for commit in case["commits"]
    ]
    windows.fold(pa.Table.from_pylist(lines), NOW_S)
    return windows


def burrow_answer(verdicts: Verdicts, group: str) -> dict[str, Any]:
    """The group in the words of Burrow's own tests."""
    answer = group_answer(verdicts, group)
    if answer["status"] == "NOTFOUND":
        return answer
    partitions = verdicts.partitions
    most = verdicts.groups.max_lag_line[0]
    return answer | {
        "complete": answer["complete_json"],
        "status_endpoint_partitions": len(answer["status_endpoint_partitions"]),
        "partitions": [{"status": status(verdicts, 0), "complete": float(partitions.complete[0])}],
        "maxlag": {
            "start_offset": int(partitions.start.offset[most]),
            "end_offset": int(partitions.end.offset[most]),
        },
    }


def test_groups_of_burrows_own_tests(vectors: Vectors, record_case: RecordCase) -> None:
    cases = {case["id"]: case for case in vectors("evaluator")["groups"] if "input" in case}
    wrong = []
    for name, case in cases.items():
        ask = case["input"]
        source = cases[ask["after"]]["input"] if "after" in ask else ask
        windows = folded(source) if "commits" in source else Windows()
        if ask.get("op") == "delete_topic":
            windows.delete_topic("t")
        got = burrow_answer(
            judge(window_arrays(windows), JudgeSettings(), NOW_S), ask.get("group", "g")
        )
        expected = RIGHT_INSTEAD[name][0] if name in RIGHT_INSTEAD else case["expect"]
        ok = all(got[key] == expected[key] for key in got.keys() & expected.keys())
        record_case(name, ok)
        wrong += [] if ok else [(name, got, expected)]
    assert wrong == []
