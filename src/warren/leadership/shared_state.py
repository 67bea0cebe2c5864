"""The instances' shared state in ZooKeeper: many entries in a node, to need few requests.

A hash of its key puts each entry into a bucket, and each bucket is a node. Only the leader writes,
and every write requires that the leader's lock node still exists.
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
from warren.leadership.lease import decode_keys, encode_keys

log = structlog.get_logger()

BUCKETS = 256
NODE_BYTES = 1_000_000  # a little below ZooKeeper's limit
REQUEST_BYTES = 500_000

Entries = dict[bytes, bytes]
_decoder = msgspec.msgpack.Decoder(Entries)


@dataclass
class Bucket:
    entries: Entries = field(default_factory=dict)
    version: int | None = None  # None: the node does not exist yet


class State:
    def __init__(self, client: KazooClient, path: str, lock_node: str, timeout_s: float) -> None:
        """Nothing is written once the writer's `lock_node` is gone."""
        self._client = client
        self._path = path
        self._lock_node = lock_node
        self._timeout_s = timeout_s
        self._buckets = [Bucket() for _ in range(BUCKETS)]

    def load(self) -> dict[str, bytes]:
        """Read all entries; must be called before `save`."""
        self._answer(self._client.ensure_path_async(self._path))
        names = self._answer(self._client.get_children_async(self._path))
        ours = [name for name in names if re.fullmatch("[0-9a-f]{2}", name)]
        requests = [(int(name, 16), self._client.get_async(self._node(name))) for name in ours]
        for number, result in requests:
            data, stat = self._answer(result)
            self._buckets[number] = Bucket(self._entries(number, data), stat.version)
        return decode_keys({key: v for each in self._buckets for key, v in each.entries.items()})

    def save(self, changes: Mapping[str, bytes | None]) -> None:
        changed: dict[int, Entries] = {}
        for key, value in encode_keys(changes).items():
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
        transaction.check(self._lock_node, -1)
        for number, data in written.items():
            node, version = self._node(f"{number:02x}"), self._buckets[number].version
            if version is None:
                transaction.create(node, data)
            else:
                transaction.set_data(node, data, version)
        results = self._answer(transaction.commit_async())
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, RolledBackError):
                raise result  # the others were rolled back because of it
        for number, result in zip(written, results[1:], strict=True):
            was_created = self._buckets[number].version is None
            self._buckets[number].version = 0 if was_created else result.version

    def _entries(self, number: int, data: bytes) -> Entries:
        """Decode a node; a damaged one is logged, and counts as empty."""
        try:
            return _decoder.decode(data)
        except msgspec.MsgspecError as error:
            node = self._node(f"{number:02x}")
            text = "saved incidents are unreadable and were skipped"
            log.warning(text, type="notifier", node=node, problem=str(error))
            return {}

    def _node(self, name: str) -> str:
        return f"{self._path}/{name}"

    def _answer(self, result: IAsyncResult) -> Any:
        return result.get(timeout=self._timeout_s)


def _requests(written: Mapping[int, bytes]) -> Iterator[list[int]]:
    """Group buckets into requests of limited size; each is written whole or not at all."""
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
