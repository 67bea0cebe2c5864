"""Offsets that Storm's Kafka spouts keep in ZooKeeper, as JSON.

Below the spouts' zkRoot it is the node ID/partition_N of a spout that reads one topic, and
ID/TOPIC/partition_N of one that reads several.

The group is the spout's ID, the last part of its path: the topology's name, which the JSON holds as
well, does not tell two spouts of one topology apart.
"""

from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta

from warren.errors import Unreadable
from warren.sources.reported import GREATEST_OFFSET, GREATEST_PARTITION, Commit, Key
from warren.sources.tree import Kind, Leaf, Parts

PARTITION = "partition_"


class SpoutOffset(msgspec.Struct):
    """What counts of the JSON; it also names the topology and the partition's broker."""

    topic: Annotated[str, Meta(min_length=1)]
    partition: Annotated[int, Meta(ge=0, le=GREATEST_PARTITION)]
    offset: Annotated[int, Meta(ge=0, le=GREATEST_OFFSET)]


_decoder = msgspec.json.Decoder(SpoutOffset)


class StormLayout:
    def __init__(self, path: str, accepts: Callable[[str], bool]) -> None:
        self.base = path
        self._accepts = accepts

    def kind(self, parts: Parts) -> Kind | None:
        match parts:
            case ():
                return Kind.BRANCH
            case (group,):
                return Kind.BRANCH if self._accepts(group) else None
            case (_, name) | (_, _, name) if name.startswith(PARTITION):
                return Kind.LEAF
            case (_, _):
                return Kind.BRANCH
        return None

    def read(self, parts: Parts, leaf: Leaf) -> Commit:
        try:
            spout = _decoder.decode(leaf.data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise Unreadable("spout offset") from error
        key = Key(parts[0], spout.topic, spout.partition)
        return Commit(key, spout.offset, leaf.changed_ms, leaf.order)
