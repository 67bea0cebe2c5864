"""Class `alertmanager`: alerts of Prometheus' Alertmanager, API v2.

An alert ends when the incident does; and, if nobody says so, when it was not repeated for a while.
Its labels are what it is known by, so a group that goes from WARN to ERR ends one alert and begins
another.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from warren.config import AlertmanagerNotifier, Config
from warren.model import Status
from warren.notify import templates
from warren.notify.message import Line, Message
from warren.notify.page import group_url, page_url
from warren.notify.requests import Requests
from warren.notify.template_data import readable
from warren.notify.wording import counted, headline, partition_line, utc, worst

STATUS_ALERT, LAG_ALERT = "KafkaConsumerGroupStatus", "KafkaConsumerGroupLag"
SEVERITIES = {Status.WARN: "warning", Status.ERR: "critical"}
LAG_SEVERITY = "warning"
LEAST_KEPT_MS = 300_000
PARTITIONS = 10

Labels = Mapping[str, str]


class Subject(NamedTuple):
    """A group's verdict; a lag alert is known by its incident, as a group may have several."""

    cluster: str
    group: str
    incident: str


class Told(NamedTuple):
    severity: str
    ends_ms: int  # if it is not repeated


class AlertmanagerSender:
    def __init__(self, notifier: AlertmanagerNotifier, config: Config) -> None:
        self._url = f"{notifier.url}/api/v2/alerts"
        self._page = page_url(config)
        self._extras = notifier.extras
        self._kept_ms = max(4 * notifier.repeat_s * 1000, LEAST_KEPT_MS)
        self._templates = templates.of_files(notifier)
        self._told: dict[Subject, Told] = {}  # what is open, as far as this process told
        self._requests = Requests(notifier)

    def send(self, message: Message) -> str:
        answer = self._requests.send("POST", self._url, self.write(message))
        self._remember(message)
        return answer

    def write(self, message: Message) -> bytes:
        annotations = self._annotations(message)
        alerts = [
            alert
            for line in _lines(message)
            for alert in self._alerts(line, message, annotations or _digest_annotations(line))
        ]
        return msgspec.json.encode(alerts)

    def close(self) -> None:
        self._requests.close()

    def _remember(self, message: Message) -> None:
        """What has ended by itself is forgotten: without send-close nobody says that it is over."""
        now_ms = message.now_ms
        self._told = {key: told for key, told in self._told.items() if told.ends_ms > now_ms}
        for line in _lines(message):
            if message.event == "close":
                self._told.pop(_subject(line), None)
            else:
                self._told[_subject(line)] = Told(_severity(line), now_ms + self._kept_ms)

    def _alerts(
        self, line: Line, message: Message, annotations: Labels
    ) -> Iterator[dict[str, object]]:
        """The alert of a group, and the ends of those it had under other labels."""
        if message.event == "open":
            current, told = _severity(line), self._told.get(_subject(line))
            yield self._alert(line, current, annotations, message.now_ms + self._kept_ms)
            over = {told.severity} - {current} if told else set()
        else:  # another instance may have told of another severity: whichever it was, it is over
            over = {*SEVERITIES.values()} if not line.reason else {LAG_SEVERITY}
        for severity in sorted(over):
            yield self._alert(line, severity, annotations, message.now_ms)

    def _alert(
        self, line: Line, severity: str, annotations: Labels, ends_ms: int
    ) -> dict[str, object]:
        labels = {
            "alertname": LAG_ALERT if line.reason else STATUS_ALERT,
            "cluster": readable(line.cluster),
            "group": readable(line.group),
            "severity": severity,
        }
        if line.reason:
            labels["incident"] = line.id
        start_ms = min(line.start_ms or ends_ms, ends_ms)
        return {
            "labels": {**labels, **self._extras},
            "annotations": annotations,
            "startsAt": utc(start_ms),
            "endsAt": utc(ends_ms),
            "generatorURL": group_url(self._page, line.cluster, line.group),
        }

    def _annotations(self, message: Message) -> Labels:
        """What people read; none for a digest, whose lines have their own."""
        if message.digest:
            return {}
        result = message.result
        bad = counted(len(result.partitions), "bad partition")
        details = [f"total lag {result.total_lag:,}, {bad} of {result.total_partitions:,}"]
        details += map(partition_line, worst(message, PARTITIONS))
        template = self._templates.get(message.event)
        return {
            "summary": headline(message),
            "description": template.render(message) if template else "\n".join(details),
            "status": result.status.name,
            "total_lag": str(result.total_lag),
            "incident": message.id,
        }


def _digest_annotations(line: Line) -> Labels:
    summary = f"{readable(line.group)} is {line.status.name}, total lag {line.total_lag:,}"
    return {
        "summary": readable(line.reason) or summary,
        "description": summary,
        "status": line.status.name,
        "total_lag": str(line.total_lag),
        "incident": line.id,
    }


def _lines(message: Message) -> tuple[Line, ...]:
    """A message about one group is like a digest of one."""
    return message.digest or (
        Line(
            message.cluster,
            message.group,
            message.result.status,
            message.result.total_lag,
            message.id,
            message.start_ms,
            message.reason,
        ),
    )


def _subject(line: Line) -> Subject:
    return Subject(line.cluster, line.group, line.id if line.reason else "")


def _severity(line: Line) -> str:
    return LAG_SEVERITY if line.reason else SEVERITIES.get(line.status, "info")
