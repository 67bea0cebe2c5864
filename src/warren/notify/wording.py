"""The words and links of messages, shared by all classes of notifiers."""

import socket
from collections import Counter
from urllib.parse import quote

from warren.config import Config
from warren.model import bounds
from warren.model.kafka_names import readable
from warren.model.status import Status
from warren.notify.message import DigestLine, Message, PartitionResult


def page_url(config: Config) -> str:
    """The URL of this instance's page; empty if it is unknown."""
    if config.general.external_url:
        return config.general.external_url
    server = next(iter(config.httpservers.values()), None)
    if server is None:
        return ""
    host, _, port = server.address.rpartition(":")
    if port == "0":
        return ""  # any free port, unknown in advance
    if host.strip("[]") in {"", "0.0.0.0", "::"}:  # noqa: S104  every address: use the host name
        host = socket.gethostname()
    return f"{'https' if server.tls else 'http'}://{host}:{port}"


def group_url(page: str, cluster: str, group: str) -> str:
    """The URL of a group's page, or of the page itself if `group` is empty."""
    if not page or not group:
        return page
    names = (quote(name, safe="", errors="replace") for name in (cluster, group))
    return f"{page}/#/group/{'/'.join(names)}"


MEANING = {
    Status.WARN: "is falling behind",
    Status.ERR: "has stopped, stalled or gone back",
    Status.NOTFOUND: "is gone",
}


def headline(message: Message) -> str:
    """One sentence: which group, and what happened to it."""
    if message.digest:
        verb = "are good again" if message.event == "close" else "need attention"
        return f"{counted(len(message.digest), 'consumer group')} {verb}"
    group, status = readable(message.group), message.result.status
    if message.event == "close":
        over = "is gone" if status is Status.NOTFOUND else "is good again"
        return f"{group} {'lag alert is over' if message.reason else over}"
    if message.reason:
        return f"{group}: {readable(message.reason)}"
    return f"{group} {MEANING.get(status, 'is good')} ({status.name})"


def digest_counts(message: Message) -> dict[str, dict[str, int]]:
    """The number of groups by cluster and status, the worst first."""
    counted = Counter((line.cluster, line.status) for line in message.digest)
    found: dict[str, dict[str, int]] = {}
    for (cluster, status), count in sorted(counted.items(), key=lambda each: -each[0][1]):
        found.setdefault(readable(cluster), {})[status.name] = count
    return dict(sorted(found.items()))


def digest_summary(message: Message) -> str:
    """The same in words: "local: 12 ERR, 3 WARN; remote: 1 ERR"."""
    return "; ".join(
        f"{cluster}: {', '.join(f'{count:,} {status}' for status, count in counts.items())}"
        for cluster, counts in digest_counts(message).items()
    )


def digest_line(line: DigestLine) -> str:
    text = f"{line.status.name} {readable(line.cluster)} {readable(line.group)}"
    text = f"{text}, lag {line.total_lag:,}, since {utc(line.start_ms)}"
    return f"{text}: {readable(line.reason)}" if line.reason else text


def worst(message: Message, count: int) -> list[PartitionResult]:
    """The worst partitions: by status, then by lag."""
    partitions = message.result.partitions
    return sorted(partitions, key=lambda each: (-each.status, -each.current_lag))[:count]


def partition_line(partition: PartitionResult) -> str:
    text = f"{partition.status.name:6} {readable(partition.topic)}:{partition.partition}"
    text = f"{text}  lag {partition.current_lag:,}"
    return f"{text}  {readable(partition.client_id)}" if partition.client_id else text


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def utc(ms: int) -> str:
    """A moment to the second: 2026-01-31T12:00:00Z."""
    if not ms:
        return "just now"
    return bounds.moment(ms).strftime("%Y-%m-%dT%H:%M:%SZ")
