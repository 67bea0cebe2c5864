"""The server.properties of KRaft nodes on loopback, each broker and controller in one."""

import secrets
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
    mutual: int

    @classmethod
    def free(cls) -> Self:
        sockets = [socket.socket() for _ in range(4)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in sockets]
        for each in sockets:
            each.close()
        return cls(*ports)


@dataclass(frozen=True)
class Member:
    """One node of a cluster; nodes are numbered from 1."""

    cluster: str  # its id
    number: int
    nodes: tuple[Ports, ...]  # of all, in order

    @classmethod
    def of_cluster(cls, size: int) -> list[Self]:
        cluster = "W" + secrets.token_urlsafe(16)[1:]  # a leading dash would pass for an option
        nodes = tuple(Ports.free() for _ in range(size))
        return [cls(cluster, number + 1, nodes) for number in range(size)]

    @classmethod
    def alone(cls) -> Self:
        (member,) = cls.of_cluster(1)
        return member

    @property
    def ports(self) -> Ports:
        return self.nodes[self.number - 1]

    @property
    def voters(self) -> str:
        controllers = enumerate((node.controller for node in self.nodes), start=1)
        return ",".join(f"{number}@127.0.0.1:{port}" for number, port in controllers)


def plain_settings(member: Member, data: Path, offsets_partitions: int) -> dict[str, str]:
    ports = member.ports
    plain, controller = f"127.0.0.1:{ports.plain}", f"127.0.0.1:{ports.controller}"
    return {
        "process.roles": "broker,controller",
        "node.id": str(member.number),
        "controller.quorum.voters": member.voters,
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
        # A topic asked for by mistake must not come into being.
        "auto.create.topics.enable": "false",
    }


def with_sasl_ssl(settings: Mapping[str, str], ports: Ports, key: Path) -> dict[str, str]:
    """Add a listener for users with a password (SCRAM) over TLS, and one for certificates."""
    secure, mutual = f"SASL_SSL://localhost:{ports.secure}", f"SSL://localhost:{ports.mutual}"
    listeners = f"{secure},{mutual}"
    protocols = ("PLAINTEXT:PLAINTEXT", "CONTROLLER:PLAINTEXT", "SASL_SSL:SASL_SSL", "SSL:SSL")
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    return {
        **settings,
        "listeners": f"{settings['listeners']},{listeners}",
        "advertised.listeners": f"{settings['advertised.listeners']},{listeners}",
        "listener.security.protocol.map": ",".join(protocols),
        "sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": f"{module} required;",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(key),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(key.with_name("ca.pem")),
        "listener.name.ssl.ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/,DEFAULT",
    }
