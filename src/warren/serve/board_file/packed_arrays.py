"""Arrays and JSON in one unnamed file: written once, then mapped by other processes."""

import mmap
import os
from collections.abc import Mapping

import msgspec
import numpy as np

from warren.model.arrays import AnyArray
from warren.model.board import SharedFile
from warren.model.group_life import OtherGroup
from warren.model.health import Health
from warren.model.query_facts import QueryFacts
from warren.serve.board_file.change_log import Changes


class ClusterFacts(msgspec.Struct):
    name: str
    now_s: int  # when it was judged
    intervals: int
    idle: dict[str, list[tuple[str, str]]] = {}  # members without partitions: owner, client id
    others: dict[str, OtherGroup] = {}  # groups without a verdict
    queries: dict[str, QueryFacts] = {}  # by group
    words_decide: bool = False  # else Burrow's rules do


class BoardFacts(msgspec.Struct):
    moment_ms: int
    clusters: list[ClusterFacts]
    health: Health
    process: dict[str, float]  # the pipeline's, for /metrics
    changes: Changes = msgspec.field(default_factory=Changes)


ALIGN = 64


class _Place(msgspec.Struct, array_like=True):
    name: str
    dtype: str
    shape: tuple[int, ...]
    at: int  # byte offset after the head


class _Head(msgspec.Struct, array_like=True):
    facts: msgspec.Raw
    places: list[_Place]


def write(facts: object, arrays: Mapping[str, AnyArray]) -> SharedFile:
    places, at = [], 0
    for name, array in arrays.items():
        places.append(_Place(name, array.dtype.str, array.shape, at))
        at += _aligned(array.nbytes)
    head = msgspec.json.encode(_Head(msgspec.Raw(msgspec.json.encode(facts)), places))
    file = SharedFile()
    with os.fdopen(file.fd, "wb", closefd=False) as out:
        out.write(len(head).to_bytes(8, "little") + head)
        out.write(bytes(_padding(8 + len(head))))
        for array in arrays.values():
            out.write(np.ascontiguousarray(array).data)
            out.write(bytes(_padding(array.nbytes)))
    return file


def read(fd: int) -> tuple[msgspec.Raw, dict[str, AnyArray]]:
    """The facts, still as JSON, and the arrays, mapped from the file."""
    memory = memoryview(map_file(fd))
    size = int.from_bytes(memory[:8], "little")
    head = msgspec.json.decode(memory[8 : 8 + size], type=_Head)
    start = _aligned(8 + size)
    return head.facts, {place.name: _array(memory, start, place) for place in head.places}


def map_file(fd: int) -> mmap.mmap | bytes:
    size = os.fstat(fd).st_size
    # An empty file cannot be mapped.
    return mmap.mmap(fd, size, prot=mmap.PROT_READ) if size else b""


def _array(memory: memoryview, start: int, place: _Place) -> AnyArray:
    dtype = np.dtype(place.dtype)
    count = int(np.prod(place.shape, dtype=np.int64))
    if not count:
        return np.zeros(place.shape, dtype)
    return np.frombuffer(memory, dtype, count, start + place.at).reshape(place.shape)


def _aligned(size: int) -> int:
    return size + _padding(size)


def _padding(size: int) -> int:
    return -size % ALIGN
