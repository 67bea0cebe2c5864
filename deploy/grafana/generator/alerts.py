"""What is worth waking somebody for, once; for Prometheus' own rules and for Grafana's."""

from dataclasses import dataclass

GROWTH = 1000  # messages in 15 minutes; small groups differ from large ones: adjust it
OLD_S = 3600  # age of the oldest unread message; what is late depends on the group: adjust it
SOON_S = 6 * 3600  # until retention takes what nobody has read
DAY_S = 24 * 3600  # until the brokers forget where a group stands

AGE = "warren_group_time_lag_seconds"
DRAIN = "warren_group_drain_seconds"
MARGIN = "warren_group_loss_margin_seconds"
LOST = "warren_group_lost_records"
EXPIRE = "warren_group_offsets_expire_seconds"
SCALABLE = "warren_group_scalable_lag"
BEHIND = "warren_sink_behind_seconds"
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
    Alert(
        name="ConsumerGroupReadsLate",
        expr=f"{AGE}_low > {OLD_S}",
        lasting="5m",
        severity="warning",
        summary=f"Consumer group {GROUP} reads late",
        description=f"Its oldest unread message is older than {OLD_S // 3600} h, for certain.",
    ),
    Alert(
        name="ConsumerGroupNeverDrains",
        expr=f"{DRAIN}_low == Inf",
        lasting="30m",
        severity="warning",
        summary=f"Consumer group {GROUP} will never have read what waits",
        description="At the present pace it does not read faster than is written.",
    ),
    # Without a margin retention does not reach a group: it keeps up, or will have read in time.
    Alert(
        name="ConsumerGroupWillLose",
        expr=f"{MARGIN} < {SOON_S} and {MARGIN} < {DRAIN}_low",
        lasting="10m",
        severity="critical",
        summary=f"Consumer group {GROUP} will lose messages",
        description=f"Retention takes unread ones within {SOON_S // 3600} h, before they are read.",
    ),
    Alert(
        name="ConsumerGroupLost",
        expr=f"delta({LOST}[15m]) > 0",
        lasting="0m",
        severity="critical",
        summary=f"Consumer group {GROUP} has lost messages",
        description="Retention took messages that it had not read.",
    ),
    Alert(
        name="ConsumerGroupOffsetsExpire",
        expr=f"{EXPIRE} < {DAY_S}",
        lasting="10m",
        severity="warning",
        summary=f"The brokers will forget where consumer group {GROUP} stands",
        description="Its offsets where nobody reads expire within a day. Then it starts anew.",
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
        name="WarrenReadingBehind",
        expr="warren_reading_behind_seconds > 120",
        lasting="5m",
        severity="warning",
        summary="Reading of consumer section {{ .Labels.consumer }} is behind",
        description="Groups are judged as they were more than two minutes ago.",
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
        name="WarrenHistoryFailing",
        expr='increase(warren_history_outcomes_total{outcome="failed"}[15m]) > 0',
        lasting="5m",
        severity="warning",
        summary="Warren {{ .Labels.instance }} cannot keep history",
        description="It is tried again; sinks get nothing meanwhile. The log has the reason.",
    ),
    # Of several Warrens that have one table, one keeps it: the others keep nothing.
    Alert(
        name="WarrenHistoryStopped",
        expr='sum by (job) (increase(warren_history_outcomes_total{outcome="kept"}[15m])) == 0',
        lasting="15m",
        severity="warning",
        summary="Nobody of {{ .Labels.job }} keeps history",
        description="No moment was kept for a quarter of an hour; /v4/health says why.",
    ),
    # Who fills a new store from the past is far behind too, but less and less.
    Alert(
        name="WarrenSinkBehind",
        expr=f"{BEHIND} > 900 and deriv({BEHIND}[10m]) > 0",
        lasting="10m",
        severity="warning",
        summary="Points do not reach sink {{ .Labels.sink }}",
        description="They are kept and sent later; look into the log for the reason.",
    ),
    Alert(
        name="WarrenSinkRejected",
        expr='increase(warren_sink_outcomes_total{outcome="rejected"}[15m]) > 0',
        lasting="0m",
        severity="warning",
        summary="Sink {{ .Labels.sink }} refuses points for good",
        description="They are parked in a file beside history, with the reasons.",
    ),
    Alert(
        name="WarrenNotifierFailing",
        expr='increase(warren_notifier_outcomes_total{outcome="failed"}[15m]) > 0',
        lasting="5m",
        severity="warning",
        summary="Notifications do not go out through {{ .Labels.notifier }}",
        description="Look into the log for the reason.",
    ),
    Alert(
        name="WarrenNobodyIsTold",
        expr="warren_notifying_silent == 1",
        lasting="0m",
        severity="critical",
        summary="Nobody is told of the groups of {{ .Labels.kind }} {{ .Labels.name }}",
        description="It could not be read for five minutes; the log has the reason.",
    ),
]
