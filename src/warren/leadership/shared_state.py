"""What all instances share, in ZooKeeper: many entries to a node, so that many are few requests.

An entry lives in the bucket its key's hash names, one node each. Only who leads writes, and every
write is made on the condition that the writer's place in the line is still there.
"""

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import structlog
from kazoo.client import KazooClient
from kazoo.exceptions import RolledBackError
from kazoo.interfaces import IAsyncResult

from warren.errors import SharedStateFull
from warren.leadership.lease import decoded, encoded

log = structlog.get_logger()

BUCKETS = 256
NODE_BYTES = 1_000_000  # ZooKeeper takes a little more
REQUEST_BYTES = 500_000

Entries = dict[bytes, bytes]
_decoder = msgspec.msgpack.Decoder(Entries)


@dataclass
class Bucket:
    entries: Entries = field(default_factory=dict)
    version: int | None = None  # None: there is no such node yet


class State:
    def __init__(self, client: KazooClient, path: str, held: str, timeout_s: float) -> None:
        """Nothing is written once the node `held`, the writer's place in the line, is gone."""
        self._client = client
        self._path = path
        self._held = held
        self._timeout_s = timeout_s
        self._buckets = [Bucket() for _ in range(BUCKETS)]

    def load(self) -> dict[str, bytes]:
        """Read everything; `save` relies on it."""
        self._answer(self._client.ensure_path_async(self._path))
        names = self._answer(self._client.get_children_async(self._path))
        ours = [name for name in names if re.fullmatch("[0-9a-f]{2}", name)]
        asked = [(int(name, 16), self._client.get_async(self._node(name))) for name in ours]
        for number, result in asked:
            data, stat = self._answer(result)
            self._buckets[number] = Bucket(self._entries(number, data), stat.version)
        return decoded({key: v for each in self._buckets for key, v in each.entries.items()})

    def save(self, changes: Mapping[str, bytes | None]) -> None:
        changed: dict[int, Entries] = {}
        for key, value in encoded(changes).items():
            number = zlib.crc32(key) % BUCKETS
            entries = changed.setdefault(number, dict(self._buckets[number].entries))
            entries.pop(key, None)
            if value is not None:
                entries[key] = value
        written = {number: msgspec.msgpack.encode(entries) for number, entries in changed.items()}
        if any(len(data) > NODE_BYTES for data in written.values()):
            raise SharedStateFull
        for request in _requests(written):
            self._write({number: written[number] for number in request})
            for number in request:
                self._buckets[number].entries = changed[number]

    def _write(self, written: Mapping[int, bytes]) -> None:
        transaction = self._client.transaction()
        transaction.check(self._held, -1)
        for number, data in written.items():
            node, version = self._node(f"{number:02x}"), self._buckets[number].version
            if version is None:
                transaction.create(node, data)
            else:
                transaction.set_data(node, data, version)
        answers = self._answer(transaction.commit_async())
        for answer in answers:
            if isinstance(answer, Exception) and not isinstance(answer, RolledBackError):
                raise answer  # the others were rolled back because of it
        for number, answer in zip(written, answers[1:], strict=True):
            was_made = self._buckets[number].version is None
            self._buckets[number].version = 0 if was_made else answer.version

    def _entries(self, number: int, data: bytes) -> Entries:
        """What a node holds: one that is damaged is told of, and written anew."""
        try:
            return _decoder.decode(data)
        except msgspec.MsgspecError as error:
            text, node = "saved incidents are unreadable and forgotten", self._node(f"{number:02x}")
            log.warning(text, type="notifier", node=node, problem=str(error))
            return {}

    def _node(self, name: str) -> str:
        return f"{self._path}/{name}"

    def _answer(self, result: IAsyncResult) -> Any:
        return result.get(timeout=self._timeout_s)


def _requests(written: Mapping[int, bytes]) -> Iterator[list[int]]:
    """Buckets that fit into one request; each is written whole or not at all."""
    request: list[int] = []
    size = 0
    for number, data in written.items():
        if request and size + len(data) > REQUEST_BYTES:
            yield request
            request, size = [], 0
        request.append(number)
        size += len(data)
    if request:
        yield request
