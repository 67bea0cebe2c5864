"""Warren itself, from its own metrics: only Prometheus has them."""

from collections.abc import Iterator
from dataclasses import replace

from grafana_foundation_sdk.models.dashboard import Dashboard

from generator.page import page
from generator.panels import QUARTER, AnyPanel, Drawing, Look, steps
from generator.prometheus import PROMETHEUS, now, over_time
from generator.questions import Asked

ABOUT = "Whether Warren keeps up: what it reads, how fresh its answers are, what it delivers."
READY = {0: "starting", 1: "ready"}
RATE = "[$__rate_interval])"

NUMBERS = {
    "ready": Asked([now("warren_ready", "{{instance}}")]),
    "board age": Asked([over_time("warren_board_age_seconds", "{{instance}}")]),
    "remaining": Asked([over_time("sum by (instance) (warren_records_remaining)", "{{instance}}")]),
    "series cut": Asked([over_time("warren_series_cut", "{{instance}}")]),
}
LINES = {
    "groups": (
        Asked(
            [
                over_time("warren_groups", "{{cluster}} groups", "groups"),
                over_time("warren_partitions", "{{cluster}} partitions", "partitions"),
            ]
        ),
        Look("Groups and partitions", "What is held and judged, by cluster."),
    ),
    "ages": (
        Asked(
            [
                over_time("warren_board_age_seconds", "board of {{instance}}", "board"),
                over_time("warren_log_ends_age_seconds", "log ends of {{cluster}}", "ends"),
                over_time("warren_tick_seconds", "judging by {{instance}}", "tick"),
            ]
        ),
        Look("Ages", "Of the answers and of the log ends; and how long judging takes.", unit="s"),
    ),
    "read": (
        Asked([over_time(f"rate(warren_records_read_total{RATE}", "{{consumer}}")]),
        Look("Records read a second", "Of the offsets topics, by consumer section.", unit="cps"),
    ),
    "remaining over time": (
        Asked([over_time("warren_records_remaining", "{{consumer}}")]),
        Look("Records still to read", "Falls to about zero after a start, and stays there."),
    ),
    "offsets topic": (
        Asked(
            [
                over_time("topk(10, warren_offsets_partition_lag)", "{{consumer}} {{partition}}"),
                over_time(
                    "warren_offsets_partition_held_back",
                    "{{consumer}} {{partition}} held back",
                    "held",
                ),
            ]
        ),
        Look(
            "Offsets topic, worst partitions",
            "Records not read yet; held back are those behind a transaction that does not end.",
        ),
    ),
    "skipped": (
        Asked(
            [over_time(f"rate(warren_records_skipped_total{RATE} * 60", "{{consumer}}: {{reason}}")]
        ),
        Look("Records skipped a minute", "Records that could not be read, by reason."),
    ),
    "states": (
        Asked([over_time("warren_consumer_state", "{{consumer}}: {{state}}")]),
        Look("State of reading", "connecting, catching up, caught up or failed."),
    ),
    "restarts": (
        Asked([over_time("warren_restarts_total", "{{consumer}}")]),
        Look("Restarts", "How often reading restarted since Warren started."),
    ),
    "sinks": (
        Asked([over_time(f"rate(warren_sink_outcomes_total{RATE} * 60", "{{sink}}: {{outcome}}")]),
        Look("Points for sinks a minute", "By sink, and by what became of them."),
    ),
    "sinks behind": (
        Asked([over_time("warren_sink_behind_seconds", "{{sink}}")]),
        Look("Sinks behind", "Since the newest moment that each has delivered.", unit="s"),
    ),
    "history": (
        Asked([over_time(f"rate(warren_history_outcomes_total{RATE} * 60", "{{outcome}}")]),
        Look("Moments of history a minute", "Kept, and failed to be kept."),
    ),
    "notifiers": (
        Asked(
            [
                over_time(
                    f"rate(warren_notifier_outcomes_total{RATE} * 60", "{{notifier}}: {{outcome}}"
                )
            ]
        ),
        Look("Notifications a minute", "By notifier, and by what became of them."),
    ),
    "processor": (
        Asked([over_time(f'rate(process_cpu_seconds_total{{job="warren"}}{RATE}', "{{instance}}")]),
        Look("Processor", "Cores that the pipeline's Python process uses; not Java.", unit="short"),
    ),
    "memory": (
        Asked([over_time('process_resident_memory_bytes{job="warren"}', "{{instance}}")]),
        Look("Memory", "Resident memory of the pipeline's Python process.", unit="bytes"),
    ),
    "files": (
        Asked([over_time('process_open_fds{job="warren"}', "{{instance}}")]),
        Look("Open files", "Of the pipeline's Python process."),
    ),
    "uptime": (
        Asked([over_time('time() - process_start_time_seconds{job="warren"}', "{{instance}}")]),
        Look("Uptime", "Since the process began.", unit="s"),
    ),
}


def health() -> Dashboard:
    asked = NUMBERS | {name: line[0] for name, line in LINES.items()}
    source = replace(PROMETHEUS, asked=asked)
    return page(source, "health", ABOUT, [], [*_panels(Drawing(source))])


def _panels(draw: Drawing) -> Iterator[AnyPanel]:
    about = "The offsets topics have been read to their end."
    yield draw.numbers("ready", Look("Ready", about, QUARTER, 4), READY)
    age = Look("Age of answers", "Seconds since the moment they hold for.", QUARTER, 4, "s")
    yield draw.numbers("board age", age).thresholds(steps({None: "green", 15: "orange", 60: "red"}))
    left = Look("Records still to read", "Of all offsets topics.", QUARTER, 4)
    yield draw.numbers("remaining", left)
    cut = Look("Series cut", "Left out of /metrics to stay within max-series.", QUARTER, 4)
    yield draw.numbers("series cut", cut).thresholds(steps({None: "green", 1: "orange"}))
    for name, (_, look) in LINES.items():
        yield draw.lines(name, look)
