"""Consumers that keep their offsets in ZooKeeper, as Kafka's own did before 0.9.

Below `<path>/consumers` the node GROUP/offsets/TOPIC/PARTITION holds an offset as text, and the
node GROUP/owners/TOPIC/PARTITION, which ends with its reader, who reads the partition.
"""

from collections.abc import Callable

from warren.errors import Unreadable
from warren.sources.reported import GREATEST_OFFSET, GREATEST_PARTITION, Commit, Key, Owner, number
from warren.sources.tree import Kind, Leaf, Parts

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

    def read(self, parts: Parts, leaf: Leaf) -> Commit | Owner:
        group, what, topic, name = parts
        key = Key(group, topic, number(name, GREATEST_PARTITION, "partition"))
        if name != str(key.partition):
            raise Unreadable("partition")  # 007 is not a second 7
        if what == OWNERS:
            return Owner(key, leaf.data.decode("utf-8", "replace"))
        text = leaf.data.decode("ascii", "replace").strip()
        offset = number(text, GREATEST_OFFSET, "offset")
        return Commit(key, offset, leaf.changed_ms, leaf.order)
