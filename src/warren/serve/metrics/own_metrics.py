"""`/metrics`: Warren's metrics of itself, from the health on the board."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from warren.model.health import ConsumerHealth, Health, RoundsHealth, known
from warren.serve.board_file.board_view import View
from warren.serve.metrics.exposition import Exposition, Samples

Family = Callable[[str, str, str, Samples], str]


def own_metrics(view: View, cut: int, now_s: float, exposition: Exposition) -> Iterator[str]:
    health = view.facts.health
    family = exposition.family
    yield family(
        "warren_board_age_seconds",
        "gauge",
        "Seconds since the moment for which the board is valid",
        [({}, round(now_s - view.facts.moment_ms / 1000, 3))],
    )
    yield family(
        "warren_ready",
        "gauge",
        "1 when the offsets topics have been read to their end",
        [({}, int(bool(health.ready)))],
    )
    yield family(
        "warren_series_cut",
        "gauge",
        "Series left out of this scrape to stay within max-series",
        [({}, cut)],
    )
    yield family(
        "warren_tick_seconds",
        "gauge",
        "Seconds that judging the groups took in the last tick",
        [({}, health.tick_seconds)] if health.tick_seconds is not None else [],
    )
    yield from _clusters(view, health, family)
    yield from _consumers(sorted(health.consumers.items()), family)
    yield from _outcomes(health, family)
    yield _silent(health.incidents.rounds if health.incidents else None, family)
    yield from _process(view.facts.process, family)


def _clusters(view: View, health: Health, family: Family) -> Iterator[str]:
    clusters = sorted(view.clusters.items())
    yield family(
        "warren_groups",
        "gauge",
        "Groups that Warren holds",
        [({"cluster": name}, len(cluster.groups.names)) for name, cluster in clusters],
    )
    yield family(
        "warren_partitions",
        "gauge",
        "Partitions of the groups that Warren holds",
        [({"cluster": name}, len(cluster.arrays["status"])) for name, cluster in clusters],
    )
    yield family(
        "warren_verdicts_that_differ",
        "gauge",
        "Partitions of which the evaluator that does not decide would say another status",
        [
            ({"cluster": name}, int(cluster.opinions.differing.sum()))
            for name, cluster in clusters
            if cluster.opinions is not None
        ],
    )
    states = sorted(health.clusters.items())
    yield family(
        "warren_log_ends_age_seconds",
        "gauge",
        "Seconds since the brokers' log ends were read",
        [
            ({"cluster": name}, state.data_age_s)
            for name, state in states
            if state.data_age_s is not None
        ],
    )
    yield family(
        "warren_commits_dropped_total",
        "counter",
        "Commits that were dropped",
        [
            ({"cluster": name, "reason": reason}, count)
            for name, state in states
            for reason, count in sorted(state.dropped.items())
        ],
    )


Consumers = Sequence[tuple[str, ConsumerHealth]]  # by name

# name, type, help, value
_CONSUMER: tuple[tuple[str, str, str, Callable[[ConsumerHealth], float | None]], ...] = (
    (
        "warren_records_read_total",
        "counter",
        "Records of the offsets topic read",
        lambda consumer: consumer.records,
    ),
    (
        "warren_restarts_total",
        "counter",
        "How often reading restarted",
        lambda consumer: consumer.restarts,
    ),
    (
        "warren_records_remaining",
        "gauge",
        "Records left to read until the end",
        lambda consumer: consumer.remaining,
    ),
    (
        "warren_reading_behind_seconds",
        "gauge",
        "Age of the moment up to which all commits have been read; groups are judged as of then",
        lambda consumer: known(consumer.behind_s),
    ),
)


def _consumers(every: Consumers, family: Family) -> Iterator[str]:
    for name, kind, about, value_of in _CONSUMER:
        values = [({"consumer": each}, value_of(state)) for each, state in every]
        samples = [(labels, value) for labels, value in values if value is not None]
        yield family(name, kind, about, samples)
    yield family(
        "warren_records_skipped_total",
        "counter",
        "Records that could not be read",
        _by_entry(every, "reason", lambda consumer: consumer.skipped),
    )
    yield family(
        "warren_offsets_partition_lag",
        "gauge",
        "Records of a partition of the offsets topic that are not read yet",
        _by_entry(every, "partition", lambda consumer: consumer.lag),
    )
    yield family(
        "warren_offsets_partition_held_back",
        "gauge",
        "1 for a partition of the offsets topic that a hanging transaction holds back",
        [
            ({"consumer": each, "partition": str(partition)}, 1)
            for each, state in every
            for partition in state.held_back
        ],
    )
    yield family(
        "warren_consumer_state",
        "gauge",
        "1 for the state a consumer is in",
        [({"consumer": each, "state": state.state}, 1) for each, state in every],
    )


def _by_entry(
    every: Consumers, by: str, table_of: Callable[[ConsumerHealth], Mapping[str, int]]
) -> Samples:
    """One sample for each consumer and each entry of its table."""
    return [
        ({"consumer": each, by: entry}, value)
        for each, state in every
        for entry, value in sorted(table_of(state).items())
    ]


def _outcomes(health: Health, family: Family) -> Iterator[str]:
    """How points, notifications and moments of history fared."""
    keeper = health.history.keeper if health.history else None
    sinks = {name: each.outcomes for name, each in health.sinks.items()}
    notifiers = {name: each.outcomes for name, each in health.notifiers.items()}
    for by, what, outcomes in (
        ("sink", "Points for sinks", sinks),
        ("notifier", "Notifications", notifiers),
        ("history", "Moments of history", {"keeper": keeper.outcomes} if keeper else {}),
    ):
        samples = [
            ({by: name, "outcome": outcome}, value)
            for name, counts in sorted(outcomes.items())
            for outcome, value in sorted(counts.items())
        ]
        yield family(f"warren_{by}_outcomes_total", "counter", f"{what}, by outcome", samples)
    yield family(
        "warren_sink_behind_seconds",
        "gauge",
        "Seconds since the newest moment that a sink has delivered",
        [
            ({"sink": name}, behind_s)
            for name, state in sorted(health.sinks.items())
            if (behind_s := known(state.behind_s)) is not None
        ],
    )


def _silent(rounds: RoundsHealth | None, family: Family) -> str:
    silent = {"cluster": rounds.silent, "consumer": rounds.silent_consumers} if rounds else {}
    return family(
        "warren_notifying_silent",
        "gauge",
        "1 for a cluster or consumer that cannot be read: no notifications are sent for its groups",
        [({"kind": kind, "name": name}, 1) for kind, names in silent.items() for name in names],
    )


def _process(process: dict[str, float], family: Family) -> Iterator[str]:
    for key, kind, about in (
        ("cpu_seconds_total", "counter", "Processor time of the pipeline's Python process"),
        ("resident_memory_bytes", "gauge", "Resident memory of that process"),
        ("open_fds", "gauge", "Its open files"),
        ("start_time_seconds", "gauge", "When it started, in Unix seconds"),
    ):
        if key in process:
            yield family(f"process_{key}", kind, about, [({}, process[key])])
