"""Twelve consumer groups, each kept in one state by a real client, and a crowd of other groups.

A group is a generator: it takes a turn with its member, then yields the seconds until the next.
Turns come about once a second, so that a window of ten commits tells after ten. Most groups of the
crowd are at the end of the log; some fall behind, some are stuck, some have stopped.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

import structlog
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from warren.demo.member import DemoMember
from warren.demo.scene import Scene

log = structlog.get_logger()

TOPIC = "orders"
ROUND_S = 5.0
AT_A_TIME = 100  # requests
WAIT_S = 30
STOPPED_AFTER = 3  # rounds


def commit_in_turns(count: int, scene: Scene) -> None:
    """Commit for every group of the crowd, round after round."""
    admin = AdminClient(scene.client())
    turn = 0
    while not scene.stop.is_set():
        began = time.monotonic()
        try:
            _commit(admin, [*_round(count, turn, scene)], scene)
        except KafkaException as error:
            log.info("commits of the demo failed", problem=str(error))
        # Stay in place until Warren watches: it would see all these commits at once.
        turn += 1 if scene.board.end(TOPIC) else 0
        scene.stop.wait(max(ROUND_S - (time.monotonic() - began), SLOW))


def _round(count: int, turn: int, scene: Scene) -> Iterator[ConsumerGroupTopicPartitions]:
    end = scene.traffic.length(TOPIC)
    for number in range(count):
        at = {3: 100 + SLOW * turn, 7: POISON, 11: 100}.get(number % 20, end)
        if number % 20 == 11 and turn >= STOPPED_AFTER:
            continue
        places = [TopicPartition(TOPIC, each, at) for each in range(scene.traffic.partitions)]
        yield ConsumerGroupTopicPartitions(f"crowd-{number:05}", places)


def _commit(admin: AdminClient, groups: list[ConsumerGroupTopicPartitions], scene: Scene) -> None:
    for start in range(0, len(groups), AT_A_TIME):
        if scene.stop.is_set():
            return
        answers = [
            answer
            for group in groups[start : start + AT_A_TIME]
            for answer in admin.alter_consumer_group_offsets([group]).values()
        ]
        for answer in answers:
            answer.result(WAIT_S)


SECOND = 1.0
SOON = 0.3
POISON = 42  # the offset of a message that cannot be read
SLOW = 2  # messages that a group reads in a step while dozens come: it falls behind
TRANSACTION_S = 10
GONE = "gone"

Turns = Iterator[float]


@dataclass(frozen=True)
class DemoGroup:
    name: str
    expected: str  # the status it should get, or GONE
    story: str  # for the summary
    play: Callable[[DemoMember, Scene], Turns]
    topics: tuple[str, ...] = ("orders",)
    settings: Mapping[str, object] = field(default_factory=dict)


def keep_up(member: DemoMember, _scene: Scene) -> Turns:
    """Reads all there is, and commits it."""
    while True:
        if member.read(SECOND):
            member.commit_read()
        yield 0


def catch_up(member: DemoMember, scene: Scene) -> Turns:
    """Reads a topic that is written in bursts, a little faster than it grows."""
    position = 0
    while True:
        position = min(position + 56, scene.traffic.length("imports"))
        member.commit_all(position)
        yield SECOND


def fall_behind(member: DemoMember, scene: Scene) -> Turns:
    """Moves on, slower than the log grows."""
    yield from _slowly(member, scene, lambda _topic, _partition, slow: slow)


def lag_on_one(member: DemoMember, scene: Scene) -> Turns:
    """Falls behind on its first partition, and reads the others to the end."""

    def place(topic: str, partition: int, slow: int) -> int:
        return slow if partition == 0 else scene.traffic.length(topic)

    yield from _slowly(member, scene, place)


def mix(member: DemoMember, scene: Scene) -> Turns:
    """Keeps up with one topic, falls behind on another, and is stuck on a third."""

    def place(topic: str, _partition: int, slow: int) -> int:
        return {"orders": scene.traffic.length("orders"), "invoices": slow}.get(topic, POISON)

    yield from _slowly(member, scene, place)


def _slowly(member: DemoMember, scene: Scene, place: Callable[[str, int, int], int]) -> Turns:
    """Commit in small steps; before each, wait until Warren has seen the last and a longer log.

    Two commits that Warren reads at once get the same log end: the lag would seem to shrink. So
    the first step waits until Warren watches.
    """
    for slow in count(start=100, step=SLOW):
        member.commit_at(lambda topic, partition: place(topic, partition, slow))  # noqa: B023  # called at once
        yield SECOND
        while scene.board.last_commit_ms(member.group) < member.committed_ms:
            if not scene.board.last_commit_ms(member.group):
                member.commit_at(lambda topic, partition: place(topic, partition, slow))  # noqa: B023  # called at once
            member.rest()
            yield SOON
        seen = {topic: scene.board.end(topic) for topic in ("orders", "invoices")}
        while any(scene.board.end(topic) < end + SLOW for topic, end in seen.items()):
            member.rest()
            yield SOON


def stop(member: DemoMember, _scene: Scene) -> Turns:
    """Commits for a while, then never again, but stays a member."""
    for turn in range(10):
        member.commit_all(100 + 10 * turn)
        yield SECOND / 2
    yield from _rest(member)


def stall(member: DemoMember, _scene: Scene) -> Turns:
    """Commits the same offset again and again: it cannot get past a message."""
    while True:
        member.commit_all(POISON)
        yield SECOND


def rewind(member: DemoMember, _scene: Scene) -> Turns:
    """Goes back every eight turns, each time before it reaches its highest offset."""
    for times in count():
        for step in range(8):
            member.commit_all(5_000 - times % 4_000 + 50 * step)
            yield SECOND


def idle(member: DemoMember, _scene: Scene) -> Turns:
    """Has read all of a topic that gets no more messages."""
    for _ in range(10):
        if member.read(SECOND):
            member.commit_read()
        yield 0
    yield from _rest(member)


def vanish(member: DemoMember, scene: Scene) -> Turns:
    """Is deleted a few seconds after the page was shown."""
    left = 10
    while left:
        member.commit_all(scene.traffic.length("orders"))
        yield SECOND
        left -= scene.shown.is_set()
    member.delete_group()


def transact(member: DemoMember, scene: Scene) -> Turns:
    """Reads and writes in transactions; every fifth is aborted and repeated."""
    producer = Producer(scene.client(transactional_id=member.group))
    producer.init_transactions(TRANSACTION_S)
    unsent = 0
    for turn in count(1):
        unsent += len(member.read(SECOND))
        if unsent:
            try:
                unsent = _transaction(producer, member, unsent, aborted=turn % 5 == 0)
            except KafkaException as error:
                log.info("a transaction of the demo failed", problem=str(error))
                producer.abort_transaction(TRANSACTION_S)
        yield 0


def _transaction(producer: Producer, member: DemoMember, results: int, *, aborted: bool) -> int:
    """Write results and commit their input in one transaction; returns the results left."""
    producer.begin_transaction()
    for _ in range(min(results, 100)):
        producer.produce("receipts", b"a receipt")
    positions = [each for each in member.positions() if each.offset >= 0]
    metadata = member.consumer.consumer_group_metadata()
    producer.send_offsets_to_transaction(positions, metadata, TRANSACTION_S)
    if aborted:
        producer.abort_transaction(TRANSACTION_S)
        return results
    producer.commit_transaction(TRANSACTION_S)
    return 0


def _rest(member: DemoMember) -> Turns:
    while True:
        member.rest()
        yield SECOND


KIP_848 = {"group_protocol": "consumer"}
THREE = ("orders", "invoices", "refunds")
GROUPS = (
    DemoGroup("healthy", "OK", "reads everything that is written", keep_up),
    DemoGroup("healthy-kip848", "OK", "the same, with the new protocol", keep_up, settings=KIP_848),
    DemoGroup(
        "slow-but-catching-up", "OK", "far behind, but its lag shrinks", catch_up, ("imports",)
    ),
    DemoGroup(
        "idle-topic",
        "OK",
        "commits nothing, because nothing is written to its topic",
        idle,
        ("archive",),
    ),
    DemoGroup("transactional", "OK", "commits in transactions, some aborted", transact),
    DemoGroup(
        "falling-behind", "WARN", "makes progress, but slower than the log grows", fall_behind
    ),
    DemoGroup("one-partition", "WARN", "falls behind on one partition only", lag_on_one),
    DemoGroup("stopped", "ERR", "no longer commits", stop),
    DemoGroup("stalled", "ERR", "cannot get past a poison message", stall),
    DemoGroup("rewound", "ERR", "went back to older offsets", rewind),
    DemoGroup("mixed-topics", "ERR", "one topic good, one slow, one stuck", mix, THREE),
    DemoGroup("deleted", GONE, "is deleted shortly after the start", vanish),
)


def take_turns(group: DemoGroup, scene: Scene) -> None:
    """Keep a group in its state until the demo ends."""
    member = DemoMember(scene, group.name, *group.topics, **group.settings)
    try:
        for pause in group.play(member, scene):
            if scene.stop.wait(pause):
                return
    except KafkaException as error:
        log.warning("a group of the demo ended", group=group.name, problem=str(error))
    finally:
        member.leave()
