"""Class `alertmanager`: alerts of Prometheus' Alertmanager, API v2.

An alert ends when the incident does, or on its own if it is not repeated for a while. Alertmanager
identifies an alert by its labels, so a group that goes from WARN to ERR ends one alert and starts
another.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

import msgspec

from warren.config import AlertmanagerNotifier, Config
from warren.model.counted_nouns import counted
from warren.model.kafka_names import readable
from warren.model.status import Status
from warren.notify.message import DigestLine, Event, Message
from warren.notify.plain_numbers import waiting
from warren.notify.senders.http_requests import Requests
from warren.notify.templates import template_files
from warren.notify.wording import (
    evidence,
    group_url,
    headline,
    page_url,
    partition_line,
    utc,
    verdict,
    worst,
)

STATUS_ALERT, LAG_ALERT = "KafkaConsumerGroupStatus", "KafkaConsumerGroupLag"
SEVERITIES = {Status.WARN: "warning", Status.ERR: "critical"}
LAG_SEVERITY = "warning"
INCIDENT = "incident"  # the label
GOOD_SEVERITY = "info"  # for `threshold = 1`
LEAST_KEPT_MS = 300_000
PARTITIONS = 10
ALERTS = 500  # per request: some hundred kilobytes

Labels = Mapping[str, str]


class AlertmanagerSender:
    def __init__(self, notifier: AlertmanagerNotifier, config: Config) -> None:
        self._url = f"{notifier.url}/api/v2/alerts"
        self._page = page_url(config)
        self._extras = notifier.extras
        self._kept_ms = max(4 * notifier.repeat_s * 1000, LEAST_KEPT_MS)
        self._templates = template_files.of_files(notifier)
        good = {GOOD_SEVERITY} if notifier.threshold <= Status.OK else set[str]()
        self._severities = {*SEVERITIES.values()} | good
        self._requests = Requests(notifier)

    def send(self, message: Message) -> str:
        """If one request is refused, all are sent again: an alert sent twice is still one alert."""
        replies = [self._requests.send("POST", self._url, body) for body in self.write(message)]
        return replies[-1]

    def write(self, message: Message) -> list[bytes]:
        """The bodies of the requests, one or more."""
        annotations = self._annotations(message)
        alerts = [
            alert
            for line in _lines(message)
            for alert in self._alerts(line, message, annotations or _digest_annotations(line))
        ]
        return [msgspec.json.encode(part) for part in _batched(alerts)]

    def digests(self, event: Event) -> bool:  # noqa: ARG002  of all kinds
        return True

    def closes_by_id(self, *, lag: bool) -> bool:
        """Yes for lag alerts, whose labels name the incident.

        Alerts about verdicts are labelled with the group only, so a later opening continues the
        same alert.
        """
        return lag and INCIDENT not in self._extras

    def close(self) -> None:
        self._requests.close()

    def _alerts(
        self, line: DigestLine, message: Message, annotations: Labels
    ) -> Iterator[dict[str, object]]:
        """The alert of a group, and the end of any alert it had with another severity.

        All severities are ended: another instance may have sent the earlier alert.
        """
        ended = {LAG_SEVERITY} if line.reason else self._severities
        if message.event == "open":
            current = _severity(line)
            yield self._alert(line, current, annotations, message.now_ms + self._kept_ms)
            ended = ended - {current}
        for severity in sorted(ended):
            yield self._alert(line, severity, annotations, message.now_ms)

    def _alert(
        self, line: DigestLine, severity: str, annotations: Labels, ends_ms: int
    ) -> dict[str, object]:
        labels = {
            "alertname": LAG_ALERT if line.reason else STATUS_ALERT,
            "cluster": readable(line.cluster),
            "group": readable(line.group),
            "severity": severity,
        }
        if line.reason:
            labels[INCIDENT] = line.id
        start_ms = min(line.start_ms or ends_ms, ends_ms)
        return {
            "labels": {**labels, **self._extras},
            "annotations": annotations,
            "startsAt": utc(start_ms),
            "endsAt": utc(ends_ms),
            "generatorURL": group_url(self._page, line.cluster, line.group),
        }

    def _annotations(self, message: Message) -> Labels:
        """The text for people; empty for a digest, whose lines have their own."""
        if message.digest:
            return {}
        result = message.result
        bad = counted(len(result.partitions), "bad partition")
        details = [f"total lag {result.total_lag:,}, {bad} of {result.total_partitions:,}"]
        details += filter(None, (evidence(message), waiting(message)))
        details += map(partition_line, worst(message, PARTITIONS))
        template = self._templates.get(message.event)
        return {
            "summary": headline(message),
            "description": template.render(message) if template else "\n".join(details),
            "status": verdict(result),
            "total_lag": str(result.total_lag),
            "incident": message.id,
            **({"owner": readable(message.owner)} if message.owner else {}),
        }


def _digest_annotations(line: DigestLine) -> Labels:
    status = line.word or line.status.name
    summary = f"{readable(line.group)} is {status}, total lag {line.total_lag:,}"
    return {
        "summary": readable(line.reason) or summary,
        "description": summary,
        "status": status,
        "total_lag": str(line.total_lag),
        "incident": line.id,
        **({"owner": readable(line.owner)} if line.owner else {}),
    }


def _lines(message: Message) -> tuple[DigestLine, ...]:
    """The lines of a digest; a message about one group becomes one line."""
    return message.digest or (
        DigestLine(
            message.cluster,
            message.group,
            message.result.status,
            message.result.total_lag,
            message.id,
            message.start_ms,
            message.reason,
            message.result.numbers,
        ),
    )


def _severity(line: DigestLine) -> str:
    return LAG_SEVERITY if line.reason else SEVERITIES.get(line.status, GOOD_SEVERITY)


def _batched(alerts: list[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    rest = iter(alerts)
    while part := [*islice(rest, ALERTS)]:
        yield part
