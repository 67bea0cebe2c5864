"""The words and links of messages, shared by all classes of notifiers."""

import socket
from collections import Counter
from urllib.parse import quote

from warren.config import Config
from warren.model import bounds
from warren.model.counted_nouns import counted
from warren.model.judgement import Word
from warren.model.kafka_names import readable
from warren.model.status import Status
from warren.notify import plain_numbers
from warren.notify.message import DigestLine, GroupResult, Members, Message, PartitionResult


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


MEANING_OF_WORD = {
    Word.WARN: "is falling behind",
    Word.STALL: "commits, and does not get on",
    Word.REWIND: "has gone back",
    Word.STOP: "has stopped",
    Word.NEVER: "has not committed anything yet",
    Word.LOST: "has lost messages that it had not read",
    Word.AHEAD: "stands beyond the end of the log",
    Word.LEFT: "has left a topic",
    Word.BLOCKED: "waits for an open transaction",
    Word.STORM: "rebalances again and again",
    Word.STALE: "cannot be judged: data are too old",
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
    if status > Status.OK and (word := _bad_word(message.result.word)):
        return f"{group} {MEANING_OF_WORD[word]} ({word.name})"
    return f"{group} {MEANING.get(status, 'is good')} ({status.name})"


def _bad_word(name: str) -> Word | None:
    return Word[name] if name and name != Word.OK.name else None


def verdict(result: GroupResult) -> str:
    """The word for a group: Warren's if its evaluator decides, else Burrow's."""
    return result.word or result.status.name


def evidence(message: Message) -> str:
    """Why the worst partition is bad, since when, and what would end it; or nothing."""
    if message.digest or message.event == "close" or message.reason:
        return ""
    for partition in worst(message, 1):
        said = partition.opinion
        if _bad_word(said.word):
            where = f"{readable(partition.topic)}:{partition.partition}"
            text = f"{where} is {said.word} since {utc(said.since_ms)}. {said.why} {said.ends}"
            second = f"Burrow's rules would say {said.second}." if said.second else ""
            parts = (text.strip(), _readers(message.result.members, partition), second)
            return " ".join(filter(None, parts))
    return ""


def _readers(members: Members, partition: PartitionResult) -> str:
    """Who is not there any more to read it; or nothing."""
    parts = []
    if members.empty_since_ms:
        parts.append(f"Its group has had no members since {utc(members.empty_since_ms)}.")
    if partition.last_owner and not partition.owner:
        client = f" ({readable(partition.last_client)})" if partition.last_client else ""
        parts.append(f"{readable(partition.last_owner)}{client} read it last.")
    return " ".join(parts)


def digest_counts(message: Message) -> dict[str, dict[str, int]]:
    """The number of groups by cluster and status, the worst first."""
    kinds = Counter((line.cluster, line.status) for line in message.digest)
    found: dict[str, dict[str, int]] = {}
    for (cluster, status), count in sorted(kinds.items(), key=lambda each: -each[0][1]):
        found.setdefault(readable(cluster), {})[status.name] = count
    return dict(sorted(found.items()))


def digest_summary(message: Message) -> str:
    """The same in words: "local: 12 ERR, 3 WARN; remote: 1 ERR"."""
    return "; ".join(
        f"{cluster}: {', '.join(f'{count:,} {status}' for status, count in counts.items())}"
        for cluster, counts in digest_counts(message).items()
    )


def digest_line(line: DigestLine) -> str:
    text = f"{line.word or line.status.name} {readable(line.cluster)} {readable(line.group)}"
    text += f" ({readable(line.owner)})" if line.owner else ""
    oldest = f", oldest {old}" if (old := plain_numbers.age(line.numbers)) else ""
    text = f"{text}, lag {line.total_lag:,}{oldest}, since {utc(line.start_ms)}"
    return f"{text}: {readable(line.reason)}" if line.reason else text


def worst(message: Message, count: int) -> list[PartitionResult]:
    """The worst partitions: those that open an incident, by verdict, then by lag."""
    partitions = message.result.partitions
    return sorted(partitions, key=_badness, reverse=True)[:count]


def _badness(partition: PartitionResult) -> tuple[bool, int, int]:
    said = partition.opinion
    verdict = Word[said.word] if said.word else partition.status
    return said.opens, verdict, partition.current_lag


def partition_line(partition: PartitionResult) -> str:
    word = partition.opinion.word or partition.status.name
    text = f"{word:6} {readable(partition.topic)}:{partition.partition}"
    text = f"{text}  lag {partition.current_lag:,}"
    text += f", oldest {old}" if (old := plain_numbers.age(partition.numbers)) else ""
    return f"{text}  {readable(partition.client_id)}" if partition.client_id else text


def utc(ms: int) -> str:
    """A moment to the second: 2026-01-31T12:00:00Z."""
    return bounds.utc(ms) if ms else "just now"
