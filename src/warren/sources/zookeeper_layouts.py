"""Where consumers keep their offsets in ZooKeeper: Kafka's own before 0.9, and Storm's spouts.

Kafka's own: below `<path>/consumers` the node GROUP/offsets/TOPIC/PARTITION holds an offset as
text. The node GROUP/owners/TOPIC/PARTITION names the partition's reader, and goes with it.

Storm's: below the spouts' zkRoot, as JSON, the node ID/partition_N of a spout that reads one topic,
and ID/TOPIC/partition_N of one that reads several. The group is the spout's ID, the last part of
its path: the topology's name, also in the JSON, does not tell two spouts of one topology apart.
"""

from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta

from warren.errors import Unreadable
from warren.sources.outside_changes import (
    GREATEST_OFFSET,
    GREATEST_PARTITION,
    OutsideCommit,
    OutsideKey,
    Owner,
    number,
)
from warren.sources.zookeeper_tree import Kind, Leaf, Parts

OFFSETS, OWNERS = "offsets", "owners"


class ZookeeperLayout:
    def __init__(self, path: str, accepts: Callable[[str], bool]) -> None:
        self.base = f"{path}/consumers"
        self._accepts = accepts

    def kind(self, parts: Parts) -> Kind | None:
        match parts:
            case ():
                return Kind.BRANCH
            case (group,):
                return Kind.BRANCH if self._accepts(group) else None
            case (_, "offsets" | "owners") | (_, "offsets" | "owners", _):
                return Kind.BRANCH
            case (_, "offsets" | "owners", _, _):
                return Kind.LEAF
        return None

    def read(self, parts: Parts, leaf: Leaf) -> OutsideCommit | Owner:
        group, what, topic, name = parts
        key = OutsideKey(group, topic, number(name, GREATEST_PARTITION, "partition"))
        if name != str(key.partition):
            raise Unreadable("partition")  # 007 is not a second 7
        if what == OWNERS:
            return Owner(key, leaf.data.decode("utf-8", "replace"))
        text = leaf.data.decode("ascii", "replace").strip()
        offset = number(text, GREATEST_OFFSET, "offset")
        return OutsideCommit(key, offset, leaf.changed_ms, leaf.order)


PARTITION = "partition_"


class SpoutOffset(msgspec.Struct):
    """The fields of the JSON that we use; it also has the topology and the partition's broker."""

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

    def read(self, parts: Parts, leaf: Leaf) -> OutsideCommit:
        try:
            spout = _decoder.decode(leaf.data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise Unreadable("spout offset") from error
        key = OutsideKey(parts[0], spout.topic, spout.partition)
        return OutsideCommit(key, spout.offset, leaf.changed_ms, leaf.order)
