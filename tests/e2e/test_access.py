"""A broker that asks who is there, and what they may do: every login, and no right too many."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pyspark.sql import SparkSession
from support.config_files import load_text
from support.kafka_clients import Kafka
from support.monitor import Watching, watching
from support.serve_process import served
from support.servers.guarded_broker import (
    ASKER,
    OFFSETS_TOPIC,
    PLAIN_PASSWORD,
    SCRAM_PASSWORD,
    Rule,
    allow,
    guarded_broker,
    take_away,
)
from support.servers.secure_broker import SecureBroker
from support.servers.tokens import Tokens, token_endpoint
from support.waiting import eventually

from warren.clients import kafka
from warren.config import Connection
from warren.errors import IamMissing

SEES_TOPICS: Rule = ("describe", "topic", "*")
READS_COMMITS: Rule = ("read", "topic", OFFSETS_TOPIC)
OWN_GROUPS: Rule = ("describe", "group", f"{kafka.READER}*")
SEES_GROUPS: Rule = ("describe", "group", "*")


@pytest.fixture(scope="module")
def tokens() -> Iterator[Tokens]:
    with token_endpoint() as running:
        running.secrets["warren"] = "client secret"
        yield running


@pytest.fixture(scope="module")
def guarded(tokens: Tokens, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureBroker]:
    with guarded_broker(tmp_path_factory.mktemp("keys"), tokens) as broker:
        asked = Kafka(broker.bootstrap)
        asked.make_topic("guarded", 5)
        asked.commit("guarded-group", "guarded", {0: 3})
        allow(broker, [SEES_TOPICS, READS_COMMITS, OWN_GROUPS])
        yield broker


def profile(broker: SecureBroker, sasl: str = "", tls: str = "") -> str:
    named = 'sasl = "s"\n' if sasl else ""
    login = f"[sasl.s]\nusername = '{broker.user}'\n{sasl}\n" if sasl else ""
    return (
        f"[client-profile.p]\ntls = \"t\"\n{named}{login}[tls.t]\ncafile = '{broker.ca}'\n{tls}\n"
    )


def logins(broker: SecureBroker, tokens: Tokens) -> dict[str, tuple[str, str]]:
    """Every way to log in: the brokers to ask, and the sections of a configuration."""
    shown = f"certfile = '{broker.ca.with_name('client.pem')}'\n"
    shown += f"keyfile = '{broker.ca.with_name('client.key')}'\n"
    token = f"token-url = '{tokens.url}'\nscope = 'kafka'\n"
    sasl = {
        "PLAIN": f"password = '{PLAIN_PASSWORD}'",
        "SCRAM-SHA-256": f"password = '{SCRAM_PASSWORD}'",
        "SCRAM-SHA-512": f"password = '{broker.password}'",
        "OAUTHBEARER": f"password = 'client secret'\n{token}",
    }
    by_password = {
        name: (broker.secure_bootstrap, profile(broker, f"mechanism = '{name}'\n{lines}"))
        for name, lines in sasl.items()
    }
    return by_password | {"mTLS": (broker.mutual_bootstrap, profile(broker, tls=shown))}


def connection(folder: Path, sections: str) -> Connection:
    module = '[cluster.c]\nclass-name = "kafka"\nservers = ["h:1"]\nclient-profile = "p"\n'
    config = load_text(folder, sections + module).config
    return config.connection(config.clusters["c"])


def test_every_login_is_taken_from_both_clients(
    spark: SparkSession, guarded: SecureBroker, tokens: Tokens, tmp_path: Path
) -> None:
    asked, read = {}, {}
    ways = logins(guarded, tokens)

    for name, (server, sections) in ways.items():
        made = connection(tmp_path, sections)
        admin = kafka.admin_client([server], made)
        asked[name] = "guarded" in admin.list_topics(timeout=20).topics
        assigned = {"assign": json.dumps({OFFSETS_TOPIC: [0, 1]})}
        options = kafka.spark([server], made, f"{kafka.READER}-{name}") | assigned
        read[name] = spark.read.format("kafka").options(**options).load().count() > 0

    assert asked == dict.fromkeys(ways, True)
    assert read == dict.fromkeys(ways, True)
    assert set(tokens.scopes) == {"kafka"}


IAM = """
[client-profile.p]
tls = "t"
iam = "i"
[tls.t]
cafile = '{ca}'
[iam.i]
region = "eu-west-1"
role-arn = "arn:aws:iam::123456789012:role/{role}"
"""


def test_tokens_of_amazons_library_are_shown_to_the_brokers(
    guarded: SecureBroker, tokens: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only Amazon can check Amazon's tokens: here its library is one that signs our own."""
    token = tokens.sign(guarded.user)
    (tmp_path / "aws_msk_iam_sasl_signer.py").write_text(
        "import time\n"
        "class MSKAuthTokenProvider:\n"
        "    @staticmethod\n"
        "    def generate_auth_token_from_role_arn(region, role_arn):\n"
        "        assert (region, role_arn[-4:]) == ('eu-west-1', 'lags')\n"
        f"        return {token!r}, (time.time() + 300) * 1000\n"
    )
    made = connection(tmp_path, IAM.format(ca=guarded.ca, role="lags"))
    servers = [guarded.secure_bootstrap]

    with pytest.raises(IamMissing, match="pip install aws-msk-iam-sasl-signer-python"):
        kafka.admin_client(servers, made)
    monkeypatch.syspath_prepend(str(tmp_path))
    topics = kafka.admin_client(servers, made).list_topics(timeout=20).topics

    assert "guarded" in topics
    assert kafka.spark(["b:9098"], made, "g")["kafka.sasl.mechanism"] == "AWS_MSK_IAM"


CLUSTERS = """
[cluster.read]
class-name = "kafka"
servers = ["{server}"]
client-profile = "p"
offset-refresh = 1
topic-refresh = 1
groups-reaper-refresh = 1
[consumer.read]
class-name = "kafka"
cluster = "read"
servers = ["{server}"]
client-profile = "p"
[cluster.asked]
class-name = "kafka"
servers = ["{server}"]
client-profile = "p"
offset-refresh = 1
[consumer.asked]
class-name = "kafka_admin"
cluster = "asked"
servers = ["{server}"]
client-profile = "p"
"""


def test_the_rights_in_the_documentation_are_enough_and_none_is_too_much(
    spark: SparkSession, guarded: SecureBroker, tokens: Tokens, tmp_path: Path
) -> None:
    server, sections = logins(guarded, tokens)["SCRAM-SHA-512"]

    with watching(spark, tmp_path, sections + CLUSTERS.format(server=server)) as site:
        # Class kafka needs no right to others' groups; the reaper without it removes nobody.
        eventually(lambda: site.committed("read", "guarded-group"), {"guarded": [3]})
        eventually(site.is_ready, expected=True)
        assert site.groups("asked") == []

        allow(guarded, [SEES_GROUPS])
        eventually(lambda: site.committed("asked", "guarded-group"), {"guarded": [3]})

        take_away(guarded, SEES_GROUPS)
        eventually(lambda: problem(site, "asked"), HIDDEN)
        assert site.groups("asked") == ["guarded-group"]
        assert "guarded-group" in site.groups("read")

        take_away(guarded, READS_COMMITS)
        Kafka(guarded.bootstrap).commit("guarded-group", "guarded", {0: 5})
        eventually(lambda: OFFSETS_TOPIC in problem(site, "read"), expected=True)

        take_away(guarded, OWN_GROUPS)
        allow(guarded, [READS_COMMITS])
        eventually(lambda: kafka.READER in problem(site, "read"), expected=True)

        allow(guarded, [OWN_GROUPS, SEES_GROUPS])
        eventually(lambda: [problem(site, each) for each in ("read", "asked")], ["", ""])
        eventually(lambda: site.committed("read", "guarded-group"), {"guarded": [5]})

        # A topic that is hidden stays as it was, and so do the groups that read it: this one is at
        # the end, and would be behind if that were seen to grow.
        before = site.group("read", "guarded-group")
        take_away(guarded, SEES_TOPICS)
        eventually(lambda: site.health()["clusters"]["read"]["without_log_end"] > 0, expected=True)
        eventually(lambda: bool(site.logged(NOT_LISTED)), expected=True)
        Kafka(guarded.bootstrap).produce("guarded", 1)
        assert site.ends("read", "guarded") == [5]
        assert site.group("read", "guarded-group")["partitions"] == before["partitions"]

        allow(guarded, [SEES_TOPICS])
        eventually(lambda: site.ends("read", "guarded"), [6])
        assert site.committed("read", "guarded-group") == {"guarded": [5]}
        assert {each["problem"] for each in site.logged(NOT_LISTED)} == {TOPIC_REFUSED}


ASKED = """
[cluster.asked]
class-name = "kafka"
servers = ["{server}"]
client-profile = "p"
offset-refresh = 1
topic-refresh = 1
[consumer.asked]
class-name = "kafka_admin"
cluster = "asked"
servers = ["{server}"]
client-profile = "p"
"""


def test_class_kafka_admin_needs_to_describe_and_nothing_else(
    spark: SparkSession, guarded: SecureBroker, tmp_path: Path
) -> None:
    lines = f"mechanism = 'SCRAM-SHA-256'\npassword = '{SCRAM_PASSWORD}'"
    login = profile(guarded, lines).replace(f"'{guarded.user}'", f"'{ASKER}'")
    allow(guarded, [SEES_TOPICS, SEES_GROUPS], ASKER)
    Kafka(guarded.bootstrap).commit("asked-group", "guarded", {0: 2})

    with watching(spark, tmp_path, login + ASKED.format(server=guarded.secure_bootstrap)) as site:
        eventually(lambda: site.committed("asked", "asked-group"), {"guarded": [2]})
        eventually(site.is_ready, expected=True)
        ends = site.ends("asked", "guarded")
        assert len(ends) == 1

        take_away(guarded, SEES_GROUPS, ASKER)
        eventually(lambda: "Describe groups" in problem(site, "asked"), expected=True)
        assert "asked-group" in site.groups("asked")

        allow(guarded, [SEES_GROUPS], ASKER)
        eventually(lambda: problem(site, "asked"), "")

        # What may not be seen any more stays; what is told meanwhile shows that polls go on.
        client = Kafka(guarded.bootstrap)
        client.make_topic("open", 3)
        take_away(guarded, SEES_TOPICS, ASKER)
        allow(guarded, [("describe", "topic", "open")], ASKER)
        client.commit("asked-late", "open", {0: 1})
        eventually(lambda: site.committed("asked", "asked-late"), {"open": [1]})
        client.commit("asked-late", "open", {0: 2})
        eventually(lambda: site.committed("asked", "asked-late"), {"open": [2]})
        assert site.ends("asked", "guarded") == ends
        assert site.committed("asked", "asked-group") == {"guarded": [2]}

        client.delete_group("asked-late")
        eventually(lambda: "asked-late" in site.groups("asked"), expected=False)


HIDDEN = (
    "the brokers no longer list any group, and there were 1; "
    "has the user lost the right to Describe groups?"
)


NOT_LISTED = "topics are no longer listed; their last known state stays"
TOPIC_REFUSED = "Broker: Topic authorization failed"


def problem(site: Watching, consumer: str) -> str:
    told: str = site.health()["consumers"][consumer]["problem"]
    return told


SHOWN = """
[general]
pidfile = "warren.pid"
[logging]
level = "debug"
[httpserver.default]
address = "127.0.0.1:0"
[spark.conf]
"spark.ui.enabled" = "true"
"spark.ui.port" = "{port}"
"spark.hadoop.fs.s3a.secret.key" = "{bucket}"
"spark.driver.extraJavaOptions" = "-Dshop.name=any '-Dshop.password={java}'"
"spark.executor.extraJavaOptions" = "'-Dshop.password={java}'"
"""
ANSWERS = (
    "/v3/config",
    "/v3/config/cluster/read",
    "/v3/config/consumer/read",
    "/v3/config/consumer/asked",
    "/v4/config",
    "/v4/health",
    "/metrics",
)


def test_secrets_are_nowhere_to_be_seen(
    guarded: SecureBroker, tokens: Tokens, tmp_path: Path
) -> None:
    server, _ = logins(guarded, tokens)["SCRAM-SHA-512"]
    allow(guarded, [SEES_TOPICS, READS_COMMITS, OWN_GROUPS, SEES_GROUPS])
    file = tmp_path / "password"
    file.write_text(f"{guarded.password}\n")
    key = guarded.ca.with_name("client.key")
    shown = f"certfile = '{guarded.ca.with_name('client.pem')}'\nkeyfile = '{key}'\n"
    sasl = f"mechanism = 'SCRAM-SHA-512'\npassword-file = '{file}'"
    ui, bucket, java = free_port(), "a secret of the store", "a secret of the JVM"
    config = profile(guarded, sasl, shown) + CLUSTERS.format(server=server)
    secrets = [guarded.password, key.read_text().splitlines()[1], bucket, java]
    folder = tmp_path / "served"
    folder.mkdir()

    with served(folder, config + SHOWN.format(port=ui, bucket=bucket, java=java)) as running:
        site = running.site
        eventually(lambda: "guarded" in site.committed("read", "guarded-group"), expected=True)
        eventually(lambda: "guarded" in site.committed("asked", "guarded-group"), expected=True)
        told = {path: site.ask(path)[1].decode() for path in ANSWERS}
        told |= spark_pages(ui)
        told |= {f"arguments of {each[:40]}": each for each in running.left()}
        told |= {"out": running.out, "err": running.err}

    assert [
        (where, secret) for where, text in told.items() for secret in secrets if secret in text
    ] == []
    # They would have been there: it is the places that name them.
    assert "fs.s3a.secret.key" in told["environment"]
    assert "redacted" in told["environment"]
    assert "shop.password" in told["environment"]
    assert "kafka" in told["sql"]
    assert any("org.apache.spark" in where for where in told.values())


def free_port() -> int:
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        port: int = any_port.getsockname()[1]
        return port


def spark_pages(port: int) -> dict[str, str]:
    """What Spark's own pages show, and the interface behind them."""
    base = f"http://127.0.0.1:{port}"
    api = f"{base}/api/v1/applications"
    (application,) = httpx.get(api, timeout=60).json()
    mine = f"{api}/{application['id']}"
    urls = {
        "environment": f"{mine}/environment",
        "environment page": f"{base}/environment/",
        "sql": f"{mine}/sql?details=true&planDescription=true&length=100",
        "streams": f"{base}/StreamingQuery/",
    }
    return {
        name: httpx.get(url, timeout=60, follow_redirects=True).text for name, url in urls.items()
    }
