"""What no Python client does, by Kafka's protocol: groups of Connect and of Kafka Streams.

A request is its fields one after the other, as the schemas in Kafka's own jar have them.
"""

import socket
import struct
from typing import Self

# Without these a broker refuses streams groups: Kafka 4.1 has them on trial.
STREAMS_PROPERTIES = {
    "unstable.api.versions.enable": "true",
    "unstable.feature.versions.enable": "true",
    "group.coordinator.rebalance.protocols": "classic,consumer,streams",
}
COMMIT, JOIN, SYNC, REASSIGN, FEATURES, STREAMS_HEARTBEAT = 8, 11, 14, 45, 57, 88
NONE, NO_TAGS, NOTHING = b"\x00", b"\x00", b"\x01"  # null, and an empty array, of compact kinds
SESSION_MS = 30_000


class Member:
    """The only member of a group, on a connection of its own to the group's coordinator."""

    def __init__(self, connection: "Connection", group: str, name: str, epoch: int) -> None:
        self._connection = connection
        self._group, self._name, self._epoch = group, name, epoch

    def commit(self, topic: str, partition: int, offset: int) -> None:
        place = struct.pack(">iqi", partition, offset, -1) + compact("") + NO_TAGS
        of_topic = compact(topic) + array(place) + NO_TAGS
        head = compact(self._group) + struct.pack(">i", self._epoch) + compact(self._name) + NONE
        answer = self._connection.ask(COMMIT, 9, head + array(of_topic) + NO_TAGS)
        (error,) = struct.unpack(">h", answer[-5:-3])  # then the ends of three kinds
        assert error == 0, error


class Connection:
    def __init__(self, bootstrap: str) -> None:
        host, port = bootstrap.split(":")
        self._socket = socket.create_connection((host, int(port)), timeout=30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, kind: int, version: int, fields: bytes, *, is_flexible: bool = True) -> bytes:
        head = struct.pack(">hhi", kind, version, 1) + string("test")
        request = head + (NO_TAGS if is_flexible else b"") + fields
        self._socket.sendall(struct.pack(">i", len(request)) + request)
        (size,) = struct.unpack(">i", self._read(4))
        return self._read(size)[4:]

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            assert more, "the broker hung up"
            data += more
        return data

    def allow_streams(self) -> None:
        """Turn streams groups on, on a broker that has STREAMS_PROPERTIES."""
        feature = compact("streams.version") + struct.pack(">h", 1) + b"\x01" + NO_TAGS
        fields = struct.pack(">i", SESSION_MS) + array(feature) + b"\x00" + NO_TAGS
        answer = self.ask(FEATURES, 1, fields)
        assert struct.unpack(">h", answer[5:7]) == (0,), answer

    def leave_to(self, broker: int, topic: str, partition: int) -> None:
        """Leave a partition to one of the brokers that have it."""
        place = struct.pack(">i", partition) + array(struct.pack(">i", broker)) + NO_TAGS
        of_topic = compact(topic) + array(place) + NO_TAGS
        fields = struct.pack(">i", SESSION_MS) + array(of_topic) + NO_TAGS
        answer = self.ask(REASSIGN, 0, fields)
        assert struct.unpack(">h", answer[5:7]) == (0,), answer

    def join_connect(self, group: str) -> Member:
        """Become the only worker of a Connect cluster."""
        times = struct.pack(">ii", SESSION_MS, SESSION_MS)
        protocol = struct.pack(">i", 1) + string("sessioned") + data(b"metadata")
        fields = string(group) + times + string("") + string("connect") + protocol
        answer = self.ask(JOIN, 2, fields, is_flexible=False)
        error, generation = struct.unpack(">hi", answer[4:10])
        assert error == 0, error
        _, _, name = strings(answer[10:], 3)
        fields = string(group) + struct.pack(">i", generation) + string(name)
        assignment = struct.pack(">i", 1) + string(name) + data(b"assignment")
        answer = self.ask(SYNC, 1, fields + assignment, is_flexible=False)
        assert struct.unpack(">h", answer[4:6]) == (0,), answer
        return Member(self, group, name, generation)

    def join_streams(self, group: str, topic: str) -> Member:
        """Become the only member of a Streams application that reads one topic."""
        source = compact("0") + array(compact(topic)) + NOTHING * 5 + NO_TAGS
        topology = b"\x01" + struct.pack(">i", 1) + array(source) + NO_TAGS
        fields = (
            compact(group)
            + compact("member")
            + struct.pack(">ii", 0, 0)
            + NONE * 2  # instance, rack
            + struct.pack(">i", SESSION_MS)
            + topology
            + NOTHING * 3  # tasks
            + compact("process")
            + b"\xff"  # no endpoint
            + NOTHING
            + NONE * 2  # offsets of tasks
            + b"\x00"
            + NO_TAGS
        )
        answer = self.ask(STREAMS_HEARTBEAT, 0, fields)
        assert struct.unpack(">h", answer[5:7]) == (0,), answer
        return Member(self, group, "member", 1)


def string(text: str) -> bytes:
    return struct.pack(">h", len(text.encode())) + text.encode()


def strings(fields: bytes, count: int) -> list[str]:
    found = []
    for _ in range(count):
        (size,) = struct.unpack(">h", fields[:2])
        found.append(fields[2 : 2 + size].decode())
        fields = fields[2 + size :]
    return found


def data(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


def compact(text: str) -> bytes:
    return length(len(text.encode())) + text.encode()


def array(only: bytes) -> bytes:
    """An array of one."""
    return length(1) + only


def length(size: int) -> bytes:
    assert size < 0x7F  # more would take a second byte
    return bytes([size + 1])
