"""Retention as a real broker is configured."""

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from support.kafka_clients import Kafka

from warren.demo.broker import Broker
from warren.model.topic_facts import TopicFacts
from warren.sources import topic_configs
from warren.sources.topic_configs import AT_ONCE, fetch_offsets_retention_s, fetch_topic_facts

DAY_MS = 86_400_000


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Kafka:
    return Kafka(broker.bootstrap)


def test_topics_tell_what_becomes_of_their_records(kafka: Kafka) -> None:
    settings = {
        "by-default": {},
        "by-time": {"retention.ms": "1000", "retention.bytes": "77"},
        "for-ever": {"retention.ms": "-1"},
        "compacted": {"cleanup.policy": "compact"},
        "both": {"cleanup.policy": "compact,delete"},
    }
    topics = [NewTopic(name, 1, 1, config=config) for name, config in settings.items()]
    for made in kafka.admin.create_topics(topics).values():
        made.result(30)

    configs = fetch_topic_facts(kafka.admin, [*settings, "no-such-topic"], 30)

    assert configs.facts == {
        "by-default": TopicFacts(7 * DAY_MS, None, is_compacted=False, is_deleted=True),
        "by-time": TopicFacts(1000, 77, is_compacted=False, is_deleted=True),
        "for-ever": TopicFacts(None, None, is_compacted=False, is_deleted=True),
        "compacted": TopicFacts(7 * DAY_MS, None, is_compacted=True, is_deleted=False),
        "both": TopicFacts(7 * DAY_MS, None, is_compacted=True, is_deleted=True),
    }
    by_time = {name: facts.is_deleted_by_time for name, facts in configs.facts.items()}
    assert [name for name, is_so in by_time.items() if is_so] == ["by-default", "by-time", "both"]
    assert configs.problems.keys() == {"no-such-topic"}
    assert not configs.is_silent


def test_the_brokers_tell_how_long_offsets_are_kept(kafka: Kafka) -> None:
    assert fetch_offsets_retention_s(kafka.admin, 1, 30) == (7 * 86_400.0, "")


def test_without_an_answer_everything_is_unknown_and_the_rest_is_not_asked_for() -> None:
    admin = AdminClient({"bootstrap.servers": "127.0.0.1:1", "log_level": 0})
    names = [f"t{number}" for number in range(AT_ONCE + 1)]

    configs = fetch_topic_facts(admin, names, 1)
    retention_s, problem = fetch_offsets_retention_s(admin, 1, 1)

    assert configs.is_silent
    assert configs.facts == {}
    assert len(configs.problems) == AT_ONCE
    assert retention_s is None
    assert problem


class Entry:
    def __init__(self, value: str | None) -> None:
        self.value = value


def test_settings_that_make_no_sense_are_no_facts() -> None:
    whole = {"retention.ms": "5", "retention.bytes": "-1", "cleanup.policy": "delete"}
    cases: dict[str, dict[str, str | None]] = {
        "no retention": {"retention.ms": None},
        "words": {"retention.bytes": "much"},
        "no policy": {"cleanup.policy": None},
    }

    facts = {
        name: topic_configs.facts_of({key: Entry(value) for key, value in (whole | case).items()})
        for name, case in cases.items()
    }

    assert facts == dict.fromkeys(cases)
    assert topic_configs.facts_of({}) is None
