"""A broker that starts, answers, stops, and leaves nothing behind."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from support.servers.secure_broker import SecureBroker

from warren.demo.broker import Broker
from warren.errors import StartError

SILENT = {"log_level": 0, "socket.timeout.ms": 5000}


@pytest.fixture(scope="module")
def secure_broker() -> Iterator[SecureBroker]:
    with SecureBroker(offsets_partitions=4) as broker:
        yield broker


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_right_password_is_let_in_over_tls(secure_broker: SecureBroker) -> None:
    admin = AdminClient(secure_broker.client() | SILENT)

    assert list(admin.list_topics(timeout=20).brokers) == [1]


def test_a_wrong_password_is_refused(secure_broker: SecureBroker) -> None:
    errors: list[KafkaError] = []
    settings = secure_broker.client(password="wrong") | SILENT
    admin = AdminClient(settings | {"error_cb": errors.append})

    with pytest.raises(KafkaException):
        admin.list_topics(timeout=5)
    admin.poll(1)

    assert KafkaError._AUTHENTICATION in [error.code() for error in errors]  # noqa: SLF001  librdkafka's own name


def test_a_client_that_does_not_know_the_authority_is_refused(secure_broker: SecureBroker) -> None:
    settings = secure_broker.client() | SILENT
    del settings["ssl.ca.location"]

    with pytest.raises(KafkaException):
        AdminClient(settings).list_topics(timeout=3)


def test_data_and_address_outlast_a_stop_and_a_kill(secure_broker: SecureBroker) -> None:
    address = {"bootstrap.servers": secure_broker.bootstrap} | SILENT
    admin = AdminClient(address)
    admin.create_topics([NewTopic("kept", 1, 1)])["kept"].result(30)
    ends = []

    for end in (secure_broker.stop, secure_broker.kill):
        producer = Producer(address)
        producer.produce("kept", b"")
        assert producer.flush(30) == 0
        end()
        secure_broker.start()
        consumer = Consumer(address | {"group.id": "asker"})
        ends.append(consumer.get_watermark_offsets(TopicPartition("kept", 0), timeout=30)[1])
        consumer.close()

    assert ends == [1, 2]


def test_nothing_is_left_after_the_block() -> None:
    with Broker(offsets_partitions=1) as broker:
        pid, directory = broker.pid, broker.directory
        assert pid is not None
        assert is_alive(pid)

    assert not is_alive(pid)
    assert not directory.exists()


def test_a_given_directory_is_kept(tmp_path: Path) -> None:
    broker = Broker(directory=tmp_path / "broker")

    broker.close()

    assert (tmp_path / "broker" / "server.properties").exists()


def test_a_broker_that_cannot_start_says_why_and_leaves_nothing() -> None:
    broker = Broker()
    broker.configure({"num.io.threads": "-1"})

    with pytest.raises(StartError, match=r"num\.io\.threads"), broker:
        pass

    assert not broker.directory.exists()


def test_the_broker_goes_when_its_owner_is_killed() -> None:
    owner_code = (
        "import os, signal; from warren.demo.broker import Broker\n"
        "with Broker(offsets_partitions=1) as broker:\n"
        "    print(broker.pid, broker.directory, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )

    owner = subprocess.run([sys.executable, "-c", owner_code], stdout=subprocess.PIPE, check=False)

    # The watchdog holds the other end of this pipe until it has done its work.
    pid, directory = owner.stdout.decode().split()
    assert not is_alive(int(pid))
    assert not Path(directory).exists()
