"""What a client profile becomes for each of the two clients. That brokers take it: tests/e2e."""

from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from support.config_files import load_text

from warren.clients import kafka
from warren.config import Connection, Sasl, Tls
from warren.config.secrets import Secret
from warren.config.sections import ClientProfile

PROFILE = """
[client-profile.p]
client-id = "lag"
dial-timeout = 3
read-timeout = 7
{named}
{sections}
[cluster.c]
class-name = "kafka"
servers = ["one:9092", "two:9092"]
client-profile = "p"
"""
SERVERS = ["one:9092", "two:9092"]


def connection(folder: Path, named: str = "", sections: str = "") -> Connection:
    config = load_text(folder, PROFILE.format(named=named, sections=sections)).config
    return config.connection(config.clusters["c"])


def test_servers_name_and_time_outs_reach_both_clients(tmp_path: Path) -> None:
    plain = connection(tmp_path)

    asks, reads = kafka.librdkafka(SERVERS, plain), kafka.spark(SERVERS, plain, "g")

    assert asks == {
        "bootstrap.servers": "one:9092,two:9092",
        "client.id": "lag",
        "security.protocol": "PLAINTEXT",
        "socket.timeout.ms": 7000,
        "socket.connection.setup.timeout.ms": 3000,
        "log_level": 0,
    }
    assert reads == {
        "kafka.group.id": "g",
        "kafka.bootstrap.servers": "one:9092,two:9092",
        "kafka.client.id": "lag",
        "kafka.security.protocol": "PLAINTEXT",
        "kafka.request.timeout.ms": "7000",
        "kafka.socket.connection.setup.timeout.ms": "3000",
    }


def test_the_protocol_follows_from_the_sections_that_are_named(tmp_path: Path) -> None:
    tls, sasl = "[tls.t]\nnoverify = true\n", '[sasl.s]\nusername = "u"\npassword = "p"\n'
    cases = {
        "PLAINTEXT": ("", ""),
        "SSL": ('tls = "t"', tls),
        "SASL_PLAINTEXT": ('sasl = "s"', sasl),
        "SASL_SSL": ('tls = "t"\nsasl = "s"', tls + sasl),
    }

    seen = {
        protocol: (
            kafka.librdkafka(SERVERS, connection(tmp_path, *sections))["security.protocol"],
            kafka.spark(SERVERS, connection(tmp_path, *sections), "g")["kafka.security.protocol"],
        )
        for protocol, sections in cases.items()
    }

    assert seen == {protocol: (protocol, protocol) for protocol in cases}


def test_odd_characters_of_a_password_reach_java_as_they_are(tmp_path: Path) -> None:
    section = "[sasl.s]\nusername = 'u'\npassword = 'a\"b\\c; d'\n"
    sasl = connection(tmp_path, 'sasl = "s"', section)

    reads = kafka.spark(SERVERS, sasl, "g")

    assert reads["kafka.sasl.mechanism"] == "PLAIN"
    assert reads["kafka.sasl.jaas.config"] == (
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="u" password="a\\"b\\\\c; d";'
    )


@given(password=st.text(alphabet=st.characters(exclude_categories=["Cs"])))
@example(password='a"b\\c\nd\re; f=')
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_java_reads_every_password_as_it_is(spark: SparkSession, password: str) -> None:
    sasl = Sasl(name="s", username="u", password=Secret(password))
    options = kafka.spark(SERVERS, Connection(profile=ClientProfile(), sasl=sasl), "g")
    java: Any = spark.sparkContext._jvm  # noqa: SLF001  # PySpark has no public way to Java
    config = java.org.apache.kafka.common.config.types.Password(options["kafka.sasl.jaas.config"])

    context = java.org.apache.kafka.common.security.JaasContext.loadClientContext(
        {"sasl.jaas.config": config}
    )
    (entry,) = context.configurationEntries()

    assert dict(entry.getOptions()) == {"username": "u", "password": password}


def test_a_key_that_was_renewed_is_the_one_shown(tmp_path: Path) -> None:
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    tls = Tls(name="t", certfile=str(certificate), keyfile=str(key))
    shown = []

    for text in ("old", "new"):
        certificate.write_text(text)
        key.write_text(text)
        shown.append(kafka.spark(SERVERS, Connection(profile=ClientProfile(), tls=tls), "g"))

    assert [each["kafka.ssl.keystore.key"] for each in shown] == ["old", "new"]
