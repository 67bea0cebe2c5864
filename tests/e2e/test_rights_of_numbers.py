"""Each number needs its own right: without it the number is missing, and nothing else."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from support.config_files import load_text
from support.kafka_clients import Kafka
from support.probing import Watched, probing
from support.servers.guarded_broker import Rule, allow, guarded_broker, take_away
from support.servers.secure_broker import SecureBroker
from support.servers.tokens import token_endpoint
from support.waiting import eventually

from warren.clients import kafka
from warren.config import Connection
from warren.model.probe_answers import Known

SEES_TOPICS: Rule = ("describe", "topic", "*")
READS_RECORDS: Rule = ("read", "topic", "*")
SEES_TOPIC_CONFIGS: Rule = ("describe_configs", "topic", "*")
SEES_BROKER_CONFIGS: Rule = ("describe_configs", "broker", "kafka-cluster")
TOPIC = "numbers"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureBroker]:
    with token_endpoint() as tokens, guarded_broker(tmp_path_factory.mktemp("k"), tokens) as broker:
        yield broker


def login(broker: SecureBroker, folder: Path) -> Connection:
    sections = (
        '[client-profile.p]\ntls = "t"\nsasl = "s"\n'
        f"[sasl.s]\nusername = '{broker.user}'\npassword = '{broker.password}'\n"
        f"mechanism = 'SCRAM-SHA-512'\n[tls.t]\ncafile = '{broker.ca}'\n"
        '[cluster.c]\nclass-name = "kafka"\nservers = ["h:1"]\nclient-profile = "p"\n'
    )
    config = load_text(folder, sections).config
    return config.connection(config.clusters["c"])


def watched_by(admin: AdminClient) -> Watched:
    watched = Watched(admin).round().round()
    watched.commit(TOPIC, 3)
    return watched


def test_every_number_needs_the_right_in_the_documentation_and_no_more(
    guarded: SecureBroker, tmp_path: Path
) -> None:
    client = Kafka(guarded.bootstrap)
    client.make_topic(TOPIC, 5)
    connection, server = login(guarded, tmp_path), guarded.secure_bootstrap
    admin = kafka.admin_client([server], connection)
    allow(guarded, [SEES_TOPICS])

    # Topics, log ends and starts, and stable ends need to be seen, no more.
    watched = watched_by(admin)
    with probing(watched, server, connection=connection):
        eventually(lambda: watched.round().edges(TOPIC), (0, None))
        eventually(lambda: watched.round().found(TOPIC)[0], Known.REFUSED)
        problems = eventually(lambda: watched.cluster.facts.problems)
        assert [*problems] == [TOPIC]
        assert "authorization" in problems[TOPIC].lower()
        assert "authorization" in eventually(lambda: watched.cluster.facts.offsets_problem).lower()
        assert watched.cluster.facts.topics == {}
        assert watched.cluster.facts.offsets_retention_s is None

    # No right to a group is needed to read records, nor one to configurations.
    allow(guarded, [READS_RECORDS])
    watched = watched_by(admin)
    with probing(watched, server, connection=connection):
        found = (Known.READ | Known.RECORD, 3, 3)
        eventually(lambda: watched.round().found(TOPIC), found)
        assert eventually(lambda: [*watched.cluster.facts.problems]) == [TOPIC]

    allow(guarded, [SEES_TOPIC_CONFIGS])
    take_away(guarded, READS_RECORDS)
    watched = watched_by(admin)
    with probing(watched, server, connection=connection):
        facts = eventually(lambda: [*watched.cluster.facts.topics.items()])
        assert [name for name, each in facts if each.is_deleted_by_time] == [TOPIC]
        assert eventually(lambda: watched.cluster.facts.offsets_problem)

    allow(guarded, [SEES_BROKER_CONFIGS])
    watched = watched_by(admin)
    with probing(watched, server, connection=connection):
        retention_s = eventually(lambda: watched.cluster.facts.offsets_retention_s)
        assert retention_s == 7 * 86_400.0
        assert watched.cluster.facts.offsets_problem == ""
