"""`/metrics`: Warren about itself, from the health on the board."""

from collections.abc import Callable, Iterator
from typing import Any

from warren.serve.board_file.board_view import View
from warren.serve.metrics.exposition import Exposition, Samples

Family = Callable[[str, str, str, Samples], str]


def own_metrics(view: View, cut: int, now_s: float, exposition: Exposition) -> Iterator[str]:
    health: Any = view.facts.health
    family = exposition.family
    yield family(
        "warren_board_age_seconds",
        "gauge",
        "Seconds since the moment the board is valid for",
        [({}, round(now_s - view.facts.moment_ms / 1000, 3))],
    )
    yield family(
        "warren_ready",
        "gauge",
        "1 when the offsets topics have been read to their end",
        [({}, int(bool(health.get("ready"))))],
    )
    yield family(
        "warren_series_cut",
        "gauge",
        "Series left out of this answer to stay within max-series",
        [({}, cut)],
    )
    yield family(
        "warren_tick_seconds",
        "gauge",
        "How long the last judging took",
        [({}, value) for value in [health.get("tick_seconds")] if value is not None],
    )
    yield from _clusters(view, health, family)
    yield from _consumers(health.get("consumers", {}), family)
    yield from _outcomes(health, family)
    yield _silent(health.get("incidents", {}).get("rounds", {}), family)
    yield from _process(view.facts.process, family)


def _clusters(view: View, health: Any, family: Family) -> Iterator[str]:
    clusters = sorted(view.clusters.items())
    yield family(
        "warren_groups",
        "gauge",
        "Groups held",
        [({"cluster": name}, len(cluster.groups.names)) for name, cluster in clusters],
    )
    yield family(
        "warren_partitions",
        "gauge",
        "Partitions of groups held",
        [({"cluster": name}, len(cluster.arrays["status"])) for name, cluster in clusters],
    )
    states = sorted(health.get("clusters", {}).items())
    yield family(
        "warren_log_ends_age_seconds",
        "gauge",
        "Seconds since the brokers' log ends were read",
        [
            ({"cluster": name}, state["data_age_s"])
            for name, state in states
            if state.get("data_age_s") is not None
        ],
    )
    yield family(
        "warren_commits_dropped_total",
        "counter",
        "Commits that were not taken into a window",
        [
            ({"cluster": name, "reason": reason}, count)
            for name, state in states
            for reason, count in sorted(state.get("dropped", {}).items())
        ],
    )


# name, type, help, key of the health of a consumer
_CONSUMER = (
    ("warren_records_read_total", "counter", "Records of the offsets topic read", "records"),
    ("warren_restarts_total", "counter", "Times that reading was begun anew", "restarts"),
    ("warren_records_remaining", "gauge", "Records still to read to the end", "remaining"),
    (
        "warren_reading_behind_seconds",
        "gauge",
        "Age of the commits up to which all have been read: groups are judged as they were then",
        "behind_s",
    ),
)


def _consumers(consumers: Any, family: Family) -> Iterator[str]:
    every = sorted(consumers.items())
    for name, kind, about, key in _CONSUMER:
        held = [
            ({"consumer": each}, state[key]) for each, state in every if state.get(key) is not None
        ]
        yield family(name, kind, about, held)
    yield family(
        "warren_records_skipped_total",
        "counter",
        "Records that could not be read",
        _spread(every, "skipped", "reason"),
    )
    yield family(
        "warren_offsets_partition_lag",
        "gauge",
        "Records of a partition of the offsets topic that are not read yet",
        _spread(every, "lag", "partition"),
    )
    yield family(
        "warren_offsets_partition_held_back",
        "gauge",
        "Partitions of the offsets topic that a hanging transaction keeps from being read",
        [
            ({"consumer": each, "partition": str(partition)}, 1)
            for each, state in every
            for partition in state.get("held_back") or ()
        ],
    )
    yield family(
        "warren_consumer_state",
        "gauge",
        "1 for the state a consumer is in",
        [
            ({"consumer": each, "state": state["state"]}, 1)
            for each, state in every
            if "state" in state
        ],
    )


def _spread(every: Any, key: str, by: str) -> Samples:
    """A sample for each entry of a table of each consumer."""
    return [
        ({"consumer": each, by: entry}, value)
        for each, state in every
        for entry, value in sorted((state.get(key) or {}).items())
    ]


def _outcomes(health: Any, family: Family) -> Iterator[str]:
    """What became of what was sent: {"sinks": {name: {"outcomes": {"sent": 3}}}}."""
    for key, by, what in (
        ("sinks", "sink", "Points for sinks"),
        ("notifiers", "notifier", "Notifications"),
        ("history", "history", "Moments of history"),
    ):
        samples = [
            ({by: name, "outcome": outcome}, value)
            for name, state in sorted(health.get(key, {}).items())
            for outcome, value in sorted(state.get("outcomes", {}).items())
        ]
        yield family(f"warren_{by}_outcomes_total", "counter", f"{what}, by outcome", samples)
    yield family(
        "warren_sink_behind_seconds",
        "gauge",
        "Seconds since the newest moment that a sink has delivered",
        [
            ({"sink": name}, state["behind_s"])
            for name, state in sorted(health.get("sinks", {}).items())
            if state.get("behind_s") is not None
        ],
    )


def _silent(rounds: Any, family: Family) -> str:
    silent = {"cluster": rounds.get("silent", []), "consumer": rounds.get("silent_consumers", [])}
    return family(
        "warren_notifying_silent",
        "gauge",
        "1 for a cluster or consumer that cannot be read, so that nobody is told of its groups",
        [({"kind": kind, "name": name}, 1) for kind, names in silent.items() for name in names],
    )


def _process(process: dict[str, float], family: Family) -> Iterator[str]:
    for key, kind, about in (
        ("cpu_seconds_total", "counter", "Processor time of the pipeline's Python process"),
        ("resident_memory_bytes", "gauge", "Resident memory of that process"),
        ("open_fds", "gauge", "Its open files"),
        ("start_time_seconds", "gauge", "When it began, in Unix seconds"),
    ):
        if key in process:
            yield family(f"process_{key}", kind, about, [({}, process[key])])
