"""What the brokers' configuration says about retention, as far as we may read it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource

from warren.model.topic_facts import TopicFacts
from warren.sources.log_ends import NO_ANSWER, SILENT

AT_ONCE = 100  # topics; brokers answer with all settings of each
UNREADABLE = "the answer cannot be read"
OFFSETS_RETENTION = "offsets.retention.minutes"
MINUTE_S = 60

Entries = Mapping[str, Any]  # by name, with the `value` of each


class Configs:
    """Facts of topics, and why there are none of the others."""

    def __init__(self) -> None:
        self.facts: dict[str, TopicFacts] = {}
        self.problems: dict[str, str] = {}
        self.is_silent = False  # a broker did not answer: the rest was not asked for


def fetch_topic_facts(admin: AdminClient, topics: Sequence[str], timeout_s: float) -> Configs:
    configs = Configs()
    for start in range(0, len(topics), AT_ONCE):
        some = [
            ConfigResource(ConfigResource.Type.TOPIC, name)
            for name in topics[start : start + AT_ONCE]
        ]
        replies = admin.describe_configs(some, request_timeout=timeout_s)
        for name, entries, problem, is_silent in _answers(replies, timeout_s):
            facts = None if problem else facts_of(entries)
            if facts is None:
                configs.problems[name] = problem or UNREADABLE
                configs.is_silent |= is_silent
            else:
                configs.facts[name] = facts
        if configs.is_silent:
            break
    return configs


def fetch_offsets_retention_s(
    admin: AdminClient, broker: int, timeout_s: float
) -> tuple[float | None, str]:
    """How long offsets are kept that nobody uses; if not known, why."""
    asked = [ConfigResource(ConfigResource.Type.BROKER, str(broker))]
    replies = admin.describe_configs(asked, request_timeout=timeout_s)
    for _, entries, problem, _ in _answers(replies, timeout_s):
        minutes = None if problem else _number(entries, OFFSETS_RETENTION)
        if minutes is not None and minutes >= 0:
            return float(minutes * MINUTE_S), ""
        return None, problem or UNREADABLE
    return None, NO_ANSWER


def _answers(
    replies: Mapping[ConfigResource, Any], timeout_s: float
) -> Iterator[tuple[str, Entries, str, bool]]:
    """For each resource its name, its settings, why there are none, whether by silence."""
    for resource, reply in replies.items():
        try:
            yield resource.name, reply.result(2 * timeout_s), "", False
        except KafkaException as error:
            yield resource.name, {}, error.args[0].str(), error.args[0].code() in SILENT
        except TimeoutError:
            yield resource.name, {}, NO_ANSWER, True


def facts_of(entries: Entries) -> TopicFacts | None:
    milliseconds, size = (_number(entries, f"retention.{unit}") for unit in ("ms", "bytes"))
    policy = getattr(entries.get("cleanup.policy"), "value", None)
    if milliseconds is None or size is None or not isinstance(policy, str):
        return None
    policies = {each.strip() for each in policy.split(",")}
    return TopicFacts(
        retention_ms=milliseconds if milliseconds >= 0 else None,
        retention_bytes=size if size >= 0 else None,
        is_compacted="compact" in policies,
        is_deleted="delete" in policies,
    )


def _number(entries: Entries, name: str) -> int | None:
    try:
        return int(entries[name].value)
    except (KeyError, AttributeError, TypeError, ValueError):
        return None
