"""What is worth waking somebody for, once; for Prometheus' own rules and for Grafana's."""

from dataclasses import dataclass

GROWTH = 1000  # messages in 15 minutes; small groups differ from large ones: adjust it

LAG = "burrow_kafka_consumer_lag_total"
GROUP = "{{ .Labels.consumer_group }} in {{ .Labels.cluster }}"  # as Prometheus names them


@dataclass(frozen=True)
class Alert:
    name: str
    expr: str  # PromQL: what it finds is what is wrong
    lasting: str  # for how long before somebody is told
    severity: str
    summary: str
    description: str


# No `$` in the texts: Grafana takes what follows one for an environment variable.
GROUPS = [
    Alert(
        name="ConsumerGroupError",
        expr="burrow_kafka_consumer_status == 3",
        lasting="2m",
        severity="critical",
        summary=f"Consumer group {GROUP} is in ERR",
        description="At least one of its partitions has stopped, stalled or gone back.",
    ),
    Alert(
        name="ConsumerGroupWarning",
        expr="burrow_kafka_consumer_status == 2",
        lasting="10m",
        severity="warning",
        summary=f"Consumer group {GROUP} falls behind",
        description="It commits, but the lag of at least one partition grew all the time.",
    ),
    Alert(
        name="ConsumerGroupLagGrows",
        expr=f"delta({LAG}[15m]) > {GROWTH} and deriv({LAG}[5m]) > 0",
        lasting="5m",
        severity="warning",
        summary=f"The lag of consumer group {GROUP} grows",
        description=f"It grew by more than {GROWTH} messages in 15 minutes, and still grows.",
    ),
]
WARREN = [
    Alert(
        name="WarrenDown",
        expr='up{job="warren"} == 0 or absent(up{job="warren"})',
        lasting="2m",
        severity="critical",
        summary="Warren cannot be scraped",
        description="Nobody judges consumer groups.",
    ),
    Alert(
        name="WarrenNotReady",
        expr="warren_ready == 0",
        lasting="15m",
        severity="warning",
        summary="Warren {{ .Labels.instance }} has not read the offsets topics to their end",
        description="Look at /v4/health for what it waits for.",
    ),
    Alert(
        name="WarrenStale",
        expr="warren_board_age_seconds > 60",
        lasting="2m",
        severity="critical",
        summary="The answers of Warren {{ .Labels.instance }} are old",
        description="No new verdicts for more than a minute.",
    ),
    Alert(
        name="WarrenLogEndsStale",
        expr="warren_log_ends_age_seconds > 300",
        lasting="5m",
        severity="warning",
        summary="The brokers of {{ .Labels.cluster }} do not tell their log ends",
        description="Lags of this cluster are those of five minutes ago or longer.",
    ),
    Alert(
        name="WarrenConsumerFailing",
        expr='warren_consumer_state{state="failed"} == 1',
        lasting="5m",
        severity="critical",
        summary="The offsets topic of consumer section {{ .Labels.consumer }} cannot be read",
        description="Statuses of its cluster are no longer renewed.",
    ),
    Alert(
        name="WarrenSinkFailing",
        expr='increase(warren_sink_outcomes_total{outcome="failed"}[15m]) > 0',
        lasting="15m",
        severity="warning",
        summary="Points do not reach sink {{ .Labels.sink }}",
        description="They are kept and sent again; look into the log for the reason.",
    ),
    Alert(
        name="WarrenNotifierFailing",
        expr='increase(warren_notifier_outcomes_total{outcome="failed"}[15m]) > 0',
        lasting="5m",
        severity="warning",
        summary="Notifications do not go out through {{ .Labels.notifier }}",
        description="Look into the log for the reason.",
    ),
]
