"""A tree that changes while it is read: what went is gone, and what is not read is not missed."""

from collections.abc import Callable
from typing import Any

from kazoo.exceptions import KazooException, NoAuthError, NoNodeError, OperationTimeoutError
from kazoo.protocol.states import KazooState, WatchedEvent, ZnodeStat

from warren.sources.outside_changes import ChangeCollector, OutsideChanges
from warren.sources.zookeeper_layouts import ZookeeperLayout
from warren.sources.zookeeper_tree import Tree

TOPIC = "/consumers/g/offsets/t"


class Answer:
    def __init__(self, value: object) -> None:
        self._value = value

    def get(self, timeout: float) -> object:  # noqa: ARG002  it is there already
        if isinstance(self._value, KazooException):
            raise self._value
        return self._value


class FarEnd:
    """A server whose nodes may go right after they were read, or not be readable."""

    connected = True

    def __init__(self, *paths: str) -> None:
        self.nodes = set(paths)
        self.fleeting: set[str] = set()
        self.refused: dict[str, KazooException] = {}
        self.tell: Callable[[str], None] = lambda _: None
        self.watch: Callable[[Any], None] = lambda _: None

    def add_listener(self, listener: Callable[[str], None]) -> None:
        self.tell = listener

    def get_async(self, path: str, watch: Callable[[Any], None]) -> Answer:
        self.watch = watch
        if path not in self.nodes:
            return Answer(self.refused.get(path, NoNodeError()))
        if path in self.fleeting:
            self.nodes.discard(path)
        return Answer((b"7", ZnodeStat(*[1] * 11)))

    def get_children_async(self, path: str, watch: Callable[[Any], None]) -> Answer:
        self.watch = watch
        inside = [each[len(path) + 1 :] for each in self.nodes if each.startswith(f"{path}/")]
        if path in self.refused or not inside:
            return Answer(self.refused.get(path, NoNodeError()))
        return Answer({name.split("/")[0] for name in inside})

    def exists_async(self, path: str, watch: Callable[[Any], None]) -> Answer:  # noqa: ARG002  as kazoo has it
        return Answer(None)


def topic_consumer(
    far_end: FarEnd, retry_s: float = 0.0
) -> tuple[Tree, Callable[[], OutsideChanges]]:
    layout = ZookeeperLayout("", lambda _: True)
    tree, reports = Tree(layout.base, layout.kind, retry_s), ChangeCollector(layout)
    tree.begin(far_end)
    far_end.tell(KazooState.CONNECTED)
    return tree, lambda: reports.take(tree.refresh(0.01))


def test_a_commit_that_goes_while_its_topic_is_read_stays_gone() -> None:
    far_end = FarEnd(*(f"{TOPIC}/{n}" for n in range(50)))
    tree, refresh = topic_consumer(far_end)
    held: set[int] = set()

    def turn() -> None:
        for commit in refresh().commits:
            held.add(commit.key.partition)
            if commit.offset is None:
                held.remove(commit.key.partition)

    while not tree.is_complete:
        turn()
    everything = len(held)
    far_end.fleeting = {f"{TOPIC}/{n}" for n in range(40)}
    far_end.tell(KazooState.CONNECTED)  # topic and partitions are read in one go, in any order
    turn()
    far_end.watch(WatchedEvent("CHILD", "CONNECTED", TOPIC))
    turn()

    assert (everything, held) == (50, set(range(40, 50)))


def test_a_tree_is_complete_when_all_was_read_since_the_connection_was_made() -> None:
    far_end = FarEnd(f"{TOPIC}/0")
    tree, refresh = topic_consumer(far_end)
    before = tree.is_complete
    for _ in range(5):
        refresh()
    read = tree.is_complete
    far_end.tell(KazooState.SUSPENDED)
    lost = tree.is_complete
    far_end.tell(KazooState.CONNECTED)
    back = tree.is_complete
    refresh()
    again = tree.is_complete
    far_end.watch(WatchedEvent("CHANGED", "CONNECTED", f"{TOPIC}/0"))

    assert (before, read, lost, back, again) == (False, True, False, False, True)
    assert tree.is_complete  # a commit that is on its way does not make it less so


def test_a_base_or_branch_that_fails_is_waited_for_and_one_we_may_not_see_is_not() -> None:
    cases: dict[str, tuple[str, KazooException, bool]] = {
        "base, no rights": ("/consumers", NoAuthError(), False),
        "base, failing": ("/consumers", OperationTimeoutError(), False),
        "group, failing": ("/consumers/g", OperationTimeoutError(), False),
        "group, no rights": ("/consumers/g", NoAuthError(), True),
    }

    wrong = []
    for name, (path, error, expected) in cases.items():
        far_end = FarEnd(f"{TOPIC}/0")
        far_end.refused[path] = error
        tree, refresh = topic_consumer(far_end, retry_s=3600)
        for _ in range(5):
            refresh()
        if tree.is_complete != expected or tree.unread != ({"g"} if path[10:] else set()):
            wrong.append(name)

    assert wrong == []
