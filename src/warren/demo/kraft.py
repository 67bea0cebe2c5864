"""The server.properties of a single KRaft node on loopback."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True)
class Ports:
    plain: int
    controller: int
    secure: int

    @classmethod
    def free(cls) -> Self:
        sockets = [socket.socket() for _ in range(3)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in sockets]
        for each in sockets:
            each.close()
        return cls(*ports)


def plain_settings(ports: Ports, data: Path, offsets_partitions: int) -> dict[str, str]:
    plain, controller = f"127.0.0.1:{ports.plain}", f"127.0.0.1:{ports.controller}"
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{controller}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "listeners": f"PLAINTEXT://{plain},CONTROLLER://{controller}",
        "advertised.listeners": f"PLAINTEXT://{plain}",
        "log.dirs": str(data),
        "offsets.topic.num.partitions": str(offsets_partitions),
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "4",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        # A topic asked for by mistake must not come into being.
        "auto.create.topics.enable": "false",
        # Compaction would thin out, while a test or a measurement reads, what a loader wrote.
        "log.cleaner.enable": "false",
    }


def with_sasl_ssl(settings: Mapping[str, str], ports: Ports, key: Path) -> dict[str, str]:
    """Add a listener for users with a password (SCRAM) over TLS."""
    listener = f"SASL_SSL://localhost:{ports.secure}"
    protocols = ("PLAINTEXT:PLAINTEXT", "CONTROLLER:PLAINTEXT", "SASL_SSL:SASL_SSL")
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    return {
        **settings,
        "listeners": f"{settings['listeners']},{listener}",
        "advertised.listeners": f"{settings['advertised.listeners']},{listener}",
        "listener.security.protocol.map": ",".join(protocols),
        "sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": f"{module} required;",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(key),
    }
