"""From boards to messages: whole days of verdicts, restarts, take-overs and what is not judged."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from notify.instances import Instance, configured, instance, outcomes
from notify.receiver import Receiver, in_threads
from notify.sample_verdicts import NOW_MS, Part, board_of, statuses, verdicts_of
from structlog.testing import capture_logs
from support.config_files import MINIMAL
from support.servers.http_receiver import http_receiver
from support.waiting import eventually

from warren.errors import LeadershipLost, SendFailed
from warren.leadership.leadership import leadership
from warren.model.board import Board
from warren.model.health import ConsumerHealth, ConsumerState
from warren.model.status import Status
from warren.notify.notifying import Notifying
from warren.notify.senders.choose import make_sender
from warren.services import Lock

OK, WARN, ERR = Status.OK, Status.WARN, Status.ERR
MINUTE = 60_000

PAGER = """
[notifier.pager]
class-name = "slack"
webhook-url = "https://localhost/services/T/B/X"
threshold = 3
send-close = true
send-once = true
group-denylist = "^test-"
"""
CHANNEL = """
[notifier.channel]
class-name = "slack"
webhook-url = "https://localhost/services/T/B/X"
send-interval = 1800
send-close = true
"""


def told(receivers: Mapping[str, Receiver], ids: dict[str, int]) -> list[str]:
    """What they got since the last time: "pager: open billing 1 ERR"."""
    lines = [
        f"{module}: {message.event} {message.group} "
        f"{ids.setdefault(message.id, len(ids) + 1)} {message.result.status.name}"
        for module, receiver in receivers.items()
        for message in receiver.got
    ]
    for receiver in receivers.values():
        receiver.got.clear()
    return lines


RESTART = None
DAY: list[tuple[str, dict[str, Status] | None, list[str]]] = [
    ("00:00", {"billing": OK, "sales": OK, "test-1": OK}, []),
    ("08:00", {"billing": WARN, "sales": OK, "test-1": OK}, ["channel: open billing 1 WARN"]),
    ("08:01", {"billing": WARN, "sales": OK, "test-1": OK}, []),
    (
        "08:02",
        {"billing": ERR, "sales": OK, "test-1": OK},
        ["pager: open billing 1 ERR", "channel: open billing 1 ERR"],
    ),
    ("08:03", RESTART, []),
    ("08:04", {"billing": ERR, "sales": OK, "test-1": OK}, []),
    (
        "08:05",
        {"billing": WARN, "sales": ERR, "test-1": ERR},
        [
            "pager: open sales 2 ERR",
            "channel: open sales 2 ERR",
            "channel: open test-1 3 ERR",
        ],
    ),
    ("08:06", {"billing": WARN, "test-1": ERR}, []),  # sales is missing for the first time
    (
        "08:07",
        {"billing": WARN, "test-1": ERR},
        ["pager: close sales 2 NOTFOUND", "channel: close sales 2 NOTFOUND"],
    ),
    (
        "08:33",
        {"billing": ERR, "test-1": OK},
        ["channel: open billing 1 ERR", "channel: close test-1 3 OK"],
    ),
    ("08:34", RESTART, []),
    (
        "08:35",
        {"billing": OK, "test-1": OK},
        ["pager: close billing 1 OK", "channel: close billing 1 OK"],
    ),
    ("08:36", RESTART, []),
    ("08:37", {"billing": OK, "test-1": OK}, []),
    (
        "17:00",
        {"billing": ERR, "test-1": WARN},
        [
            "pager: open billing 4 ERR",
            "channel: open billing 4 ERR",
            "channel: open test-1 5 WARN",
        ],
    ),
    (
        "17:01",
        {"billing": OK, "test-1": OK},
        [
            "pager: close billing 4 OK",
            "channel: close billing 4 OK",
            "channel: close test-1 5 OK",
        ],
    ),
    ("23:59", {"billing": OK, "test-1": OK}, []),
]


def test_a_day_of_verdicts_gives_these_messages_and_no_others(tmp_path: Path) -> None:
    config = configured(tmp_path, PAGER, CHANNEL)
    receivers = {"pager": Receiver(), "channel": Receiver()}
    ids: dict[str, int] = {}
    wrong = {}

    with ExitStack() as process:
        current = process.enter_context(instance(config, receivers))
        for at, groups, expected in DAY:
            if groups is RESTART:
                process.close()
                current = process.enter_context(instance(config, receivers))
                continue
            current.look(board_of({"local": statuses(groups)}, moment(at)))
            if (got := told(receivers, ids)) != expected:
                wrong[at] = got

    assert wrong == {}


def moment(at: str) -> int:
    hours, minutes = at.split(":")
    return NOW_MS + (int(hours) * 60 + int(minutes)) * MINUTE


def test_what_stands_open_after_the_day_is_nothing(tmp_path: Path) -> None:
    config = configured(tmp_path, PAGER, CHANNEL)
    receivers = {"pager": Receiver(), "channel": Receiver()}

    with instance(config, receivers) as current:
        for at, groups, _ in DAY:
            if groups is not None:
                current.look(board_of({"local": statuses(groups)}, moment(at)))

        assert current.lock.load() == {}


@pytest.mark.parametrize("state", ["catching up", "connecting", "failed"])
def test_from_half_read_data_nobody_is_told_anything(tmp_path: Path, state: ConsumerState) -> None:
    config = configured(tmp_path, CHANNEL)
    receivers = {"channel": Receiver()}
    bad, good = statuses({"billing": ERR}), statuses({"billing": OK})

    with instance(config, receivers) as current:
        current.look(board_of({"local": bad}, NOW_MS))
        opened = receivers["channel"].heard
        current.look(board_of({"local": good}, NOW_MS + MINUTE, state=state))
        current.look(board_of({"local": statuses({})}, NOW_MS + 2 * MINUTE, state=state))
        current.look(board_of({"local": statuses({})}, NOW_MS + 3 * MINUTE, state=state))

    assert opened == receivers["channel"].heard == ["open billing"]


def test_an_old_board_is_not_judged(tmp_path: Path) -> None:
    receivers = {"channel": Receiver()}

    with instance(configured(tmp_path, CHANNEL), receivers) as current:
        current.board = board_of({"local": statuses({"billing": ERR})}, NOW_MS)
        current.notifying.look(0, NOW_MS + MINUTE)

        assert current.notifying.health().open == 0


def test_a_cluster_that_cannot_be_judged_keeps_nobody_from_the_others(tmp_path: Path) -> None:
    remote = MINIMAL.replace(".local]", ".remote]").replace('"local"', '"remote"')
    config = configured(tmp_path, CHANNEL, minimal=MINIMAL + remote)
    receivers = {"channel": Receiver()}
    bad = statuses({"billing": ERR})
    board = board_of({"local": bad, "remote": bad}, NOW_MS)
    reading = {**board.health.consumers, "local": ConsumerHealth("local", "catching up")}
    board = replace(board, health=structs.replace(board.health, consumers=reading))

    with instance(config, receivers) as current:
        current.look(board)

    assert [each.cluster for each in receivers["channel"].got] == ["remote"]


def test_a_cluster_that_cannot_be_judged_for_long_is_named(tmp_path: Path) -> None:
    with instance(configured(tmp_path, CHANNEL), {"channel": Receiver()}) as current:
        silent = []
        bad: ConsumerState = "failed"
        good: ConsumerState = "caught up"
        for at_s, state in ((0, bad), (200, bad), (301, bad), (302, good), (303, good)):
            moment_ms = NOW_MS + at_s * 1000
            current.board = board_of({"local": statuses({})}, moment_ms, state=state)
            current.notifying.look(at_s, moment_ms)
            silent.append(current.notifying.health().silent)

    assert silent == [[], [], ["local"], ["local"], []]


def test_verdicts_made_before_all_was_read_are_not_told_though_it_is_read_by_now(
    tmp_path: Path,
) -> None:
    receivers = {"channel": Receiver()}
    stale, fresh = statuses({"billing": ERR}), statuses({"billing": OK})

    with instance(configured(tmp_path, CHANNEL), receivers) as current:
        current.look(board_of({"local": stale}, NOW_MS, state="catching up"))
        current.look(board_of({"local": stale}, NOW_MS + 1))
        current.look(board_of({"local": fresh}, NOW_MS + 2))

    assert receivers["channel"].got == []


def test_a_group_is_told_of_once_it_is_bad_by_what_was_read_after_all_was_caught_up_with(
    tmp_path: Path,
) -> None:
    receivers = {"channel": Receiver()}
    bad = statuses({"billing": ERR})

    with instance(configured(tmp_path, CHANNEL), receivers) as current:
        current.look(board_of({"local": bad}, NOW_MS, state="catching up"))
        for moment_ms, read_until_ms in ((1_000, -9_000), (3_000, 0), (5_000, 1_000)):
            read_ms = NOW_MS + read_until_ms
            current.look(board_of({"local": bad}, NOW_MS + moment_ms, read_until_ms=read_ms))
        early = [*receivers["channel"].got]
        current.look(board_of({"local": bad}, NOW_MS + 7_000, read_until_ms=NOW_MS + 1_001))

    assert early == []
    assert receivers["channel"].heard == ["open billing"]


def test_a_group_that_is_not_read_yet_is_not_told_of(tmp_path: Path) -> None:
    receivers = {"channel": Receiver()}
    bad = statuses({"billing": ERR})

    with instance(configured(tmp_path, CHANNEL), receivers) as current:
        current.look(board_of({"local": bad}, NOW_MS, read_until_ms=0))
        early = [*receivers["channel"].got]
        current.look(board_of({"local": bad}, NOW_MS + 1_000))

    assert early == []
    assert receivers["channel"].heard == ["open billing"]


def test_a_standby_knows_since_when_a_cluster_is_current(tmp_path: Path) -> None:
    config, receiver = configured(tmp_path, f"{CHANNEL}interval = 1\n"), Receiver()
    bad, first = statuses({"billing": ERR}), Instance(config, {"channel": Receiver()})
    second = Instance(config, {"channel": receiver})
    looks: list[Board] = []

    def show(after_ms: int, **told: Any) -> None:
        """A board, until the second instance has looked at it."""
        board = board_of({"local": bad}, began_ms + after_ms, **told)
        looks.clear()
        shown[0] = board
        eventually(lambda: looks.count(board) > 1)

    def boards() -> Board:
        looks.append(shown[0])
        return shown[0]

    began_ms = int(time.time() * 1000)
    shown = [Board(0)]
    second.notifying = Notifying(config, boards, second.lock, {"channel": receiver})
    works = [second.lock.run, second.notifying.run]
    works += [each.run for each in second.notifying.deliveries]
    with ExitStack() as leader, ExitStack() as standby:
        leader.enter_context(in_threads([first.lock.run]))
        eventually(lambda: first.lock.leads)
        standby.enter_context(in_threads(works))
        show(0, state="catching up")
        show(1_000, read_until_ms=began_ms - 60_000)
        leader.close()
        eventually(lambda: second.lock.leads)
        show(2_000, read_until_ms=began_ms - 60_000)
        early = [*receiver.got]
        show(3_000, read_until_ms=began_ms + 2_500)
        eventually(lambda: receiver.heard, ["open billing"])

    assert early == []


def test_a_clock_that_is_set_back_silences_nobody(tmp_path: Path) -> None:
    receivers = {"channel": Receiver()}
    bad = statuses({"billing": ERR})

    with instance(configured(tmp_path, CHANNEL), receivers) as current:
        current.look(board_of({"local": bad}, NOW_MS + 60 * MINUTE, state="catching up"))
        current.look(board_of({"local": statuses({})}, NOW_MS + 60 * MINUTE + 1))
        current.look(board_of({"local": bad}, NOW_MS))
        current.look(board_of({"local": bad}, NOW_MS + 1))

    assert receivers["channel"].heard == ["open billing"]


def test_a_source_outside_kafka_that_fails_silences_its_own_groups_only(tmp_path: Path) -> None:
    receivers, silent = {"channel": Receiver()}, []

    def board(minute: int, groups: dict[str, Status], state: ConsumerState = "caught up") -> Board:
        return board_of(
            {"local": statuses(groups)},
            NOW_MS + minute * MINUTE,
            outside={"old": ("spout", "quiet")},
            outside_state=state,
        )

    old = (
        MINIMAL
        + """
    [consumer.old]
    class-name = "kafka_zk"
    cluster = "local"
    servers = ["127.0.0.1:2181"]
    """
    )
    with instance(configured(tmp_path, CHANNEL, minimal=old), receivers) as current:
        good = {"spout": OK, "quiet": OK, "billing": OK}
        current.look(board(0, good | {"quiet": ERR}))
        for minute in range(1, 4):  # its commits are missing, and so is one of the groups
            bad = {"spout": ERR, "billing": ERR if minute > 1 else OK}
            current.look(board(minute, bad, "failed"))
            silent.append(current.notifying.health().silent_consumers)
        current.look(board(4, good))
        current.look(board(5, good | {"spout": ERR}))

    assert receivers["channel"].heard == [
        *("open quiet", "open billing", "close billing", "open spout", "close quiet")
    ]
    assert silent == [["old"]] * 3  # a round here is hours


def test_with_start_latest_a_group_not_seen_since_the_start_is_not_gone(tmp_path: Path) -> None:
    config = configured(tmp_path, CHANNEL, minimal=MINIMAL + "start-latest = true\n")
    receivers = {"channel": Receiver()}
    with instance(config, receivers) as current:
        current.look(board_of({"local": statuses({"billing": ERR})}, NOW_MS))

    with instance(config, receivers) as current:
        for at in range(1, 5):
            current.look(board_of({"local": statuses({})}, NOW_MS + at * MINUTE))
        unseen = receivers["channel"].heard
        current.look(board_of({"local": statuses({"billing": OK})}, NOW_MS + 9 * MINUTE))

    assert unseen == ["open billing"]
    assert receivers["channel"].heard == ["open billing", "close billing"]


def test_with_start_latest_a_long_incident_survives_a_board_that_lacks_its_group(
    tmp_path: Path,
) -> None:
    config = configured(tmp_path, CHANNEL, minimal=MINIMAL + "start-latest = true\n")
    receivers, later = {"channel": Receiver()}, NOW_MS + 10 * 24 * 60 * MINUTE
    with instance(config, receivers) as current:
        current.look(board_of({"local": statuses({"billing": ERR})}, NOW_MS))

    with instance(config, receivers) as current:
        current.look(board_of({"local": statuses({})}, later))
        current.look(board_of({"local": statuses({"billing": ERR})}, later + MINUTE))

    assert receivers["channel"].heard == ["open billing", "open billing"]
    assert len({message.id for message in receivers["channel"].got}) == 1


def test_a_cluster_or_lag_that_is_no_longer_configured_is_closed(tmp_path: Path) -> None:
    lagging = CHANNEL + "lag-above = 5\n"
    receivers = {"channel": Receiver()}
    with instance(configured(tmp_path, lagging), receivers) as current:
        current.look(board_of({"local": statuses({"billing": ERR})}, NOW_MS))
    opened = [(each.event, each.reason) for each in receivers["channel"].got]
    receivers["channel"].got.clear()

    elsewhere = MINIMAL.replace(".local]", ".remote]").replace('"local"', '"remote"')
    with instance(configured(tmp_path, CHANNEL, minimal=elsewhere), receivers) as current:
        current.look(board_of({"remote": statuses({})}, NOW_MS + MINUTE))

    assert opened == [("open", ""), ("open", "lag is 30, above 5")]
    closed = [(each.event, each.cluster, each.reason) for each in receivers["channel"].got]
    assert closed == [
        ("close", "local", ""),
        ("close", "local", "its lag is no longer watched"),
    ]


def test_names_that_are_no_utf8_survive_a_restart(tmp_path: Path) -> None:
    config, receivers = configured(tmp_path, CHANNEL), {"channel": Receiver()}
    name = "caf\udce9/ü \n"
    with instance(config, receivers) as current:
        current.look(board_of({"local": statuses({name: ERR})}, NOW_MS))

    with instance(config, receivers) as current:
        current.look(board_of({"local": statuses({name: OK})}, NOW_MS + MINUTE))

    assert receivers["channel"].heard == [f"open {name}", f"close {name}"]


def test_who_takes_over_goes_on_where_the_other_stopped(tmp_path: Path) -> None:
    config = configured(tmp_path, CHANNEL, "interval = 1\n")
    receiver = Receiver()
    first, second = (Instance(config, {"channel": receiver}) for _ in range(2))
    for each in (first, second):
        each.board = board_of({"local": statuses({"billing": ERR})}, 1 << 60)

    with running(second):
        with running(first):
            eventually(lambda: receiver.heard == ["open billing"])
            eventually(lambda: first.lock.leads or second.lock.leads)
        eventually(lambda: second.notifying.health().open == 1)
        second.board = board_of({"local": statuses({"billing": OK})}, 1 << 60)
        eventually(lambda: len(receiver.got) == 2)

    assert receiver.heard == ["open billing", "close billing"]
    assert len({message.id for message in receiver.got}) == 1


@contextmanager
def running(process: Instance) -> Iterator[None]:
    """As `serve` runs it: every companion in its thread."""
    deliveries = [each.run for each in process.notifying.deliveries]
    lock = Lock("incidents", process.lock, process.notifying.finished)
    with in_threads([lock.run, process.notifying.run, *deliveries]):
        yield


def test_a_message_on_its_way_at_the_end_is_not_sent_again_by_the_next_run(tmp_path: Path) -> None:
    config, receiver = configured(tmp_path, CHANNEL), Receiver()
    board = board_of({"local": statuses({"billing": ERR})}, 1 << 60)
    first = Instance(config, {"channel": receiver})
    first.board = board
    receiver.answers.clear()

    with running(first):
        eventually(lambda: receiver.attempts == 1)
        answering = threading.Timer(0.7, receiver.answers.set)
        answering.start()
    with instance(config, {"channel": receiver}) as second:
        second.look(replace(board, moment_ms=int(time.time() * 1000)))

    assert receiver.heard == ["open billing"]


def test_what_was_told_and_could_not_be_saved_is_saved_later(tmp_path: Path) -> None:
    config, receiver = configured(tmp_path, CHANNEL), Receiver()
    current = Instance(config, {"channel": receiver})
    notifying = current.notifying
    current.board = board_of({"local": statuses({"billing": ERR})}, NOW_MS)

    with in_threads([each.run for each in notifying.deliveries]):
        with in_threads([current.lock.run]):
            eventually(lambda: current.lock.leads)
            notifying.take_over()
            notifying.look(0, NOW_MS)
            eventually(lambda: len(receiver.got) == 1)
        with pytest.raises(LeadershipLost):
            notifying.note_delivered(NOW_MS)
        with in_threads([current.lock.run]):
            eventually(lambda: current.lock.leads)
            notifying.take_over()
            notifying.note_delivered(NOW_MS)
            current.look(board_of({"local": statuses({"billing": ERR})}, NOW_MS + MINUTE))

    assert receiver.heard == ["open billing"]


def test_people_are_told_though_incidents_cannot_be_saved(tmp_path: Path) -> None:
    state = tmp_path / "notifier" / "state.sqlite"
    state.parent.mkdir()
    state.write_bytes(b"not a database at all" * 100)
    config, receiver = configured(tmp_path, CHANNEL), Receiver()

    with instance(config, {"channel": receiver}) as current:
        current.look(board_of({"local": statuses({"billing": ERR})}, NOW_MS))
        problem = current.notifying.health().problem
        current.look(board_of({"local": statuses({"billing": ERR})}, NOW_MS + MINUTE))
        state.unlink()
        current.look(board_of({"local": statuses({"billing": ERR, "x": ERR})}, NOW_MS + 2 * MINUTE))
        healthy = current.notifying.health().problem
    with instance(config, {"channel": receiver}) as current:
        current.look(board_of({"local": statuses({"billing": OK, "x": OK})}, NOW_MS + 3 * MINUTE))

    wanted = "file is not a database; free disk space, fix its permissions, or remove it"
    assert problem == f"{state}: {wanted}"
    assert not healthy
    assert receiver.heard == ["open billing", "open x", "close billing", "close x"]


def test_a_saved_incident_that_is_unreadable_stops_nobody(tmp_path: Path) -> None:
    config, receiver = configured(tmp_path, CHANNEL), Receiver()
    lock = leadership(config)
    with in_threads([lock.run]):
        eventually(lambda: lock.leads)
        lock.save({"no subject": b"", '["local", "sales"]': b"\xc1", "[1, 2, 3, 4, 5]": b"\x90"})

    with instance(config, {"channel": receiver}) as current:
        current.look(board_of({"local": statuses({"billing": ERR})}, NOW_MS))

    assert receiver.heard == ["open billing"]


def test_ten_thousand_groups_go_bad_and_recover_without_a_flood(tmp_path: Path) -> None:
    template = tmp_path / "body.tmpl"
    template.write_text('{"group": "{{.Group}}"}')
    names = [f"group-{n:05}" for n in range(10_000)]
    with http_receiver() as receiver:
        hook = f"""
        [notifier.hook]
        class-name = "http"
        max-per-minute = 40
        send-close = true
        url-open = "{receiver.url}/open"
        url-close = "{receiver.url}/close"
        template-open = "{template}"
        template-close = "{template}"
        """
        config = configured(tmp_path, hook)
        senders = {"hook": make_sender(config.notifiers["hook"], config)}

        with instance(config, senders) as current:
            current.look(board_of({"local": statuses(dict.fromkeys(names, ERR))}, NOW_MS))
            open_then = current.notifying.health().open
            saved_then = len(current.lock.load())
            good = statuses(dict.fromkeys(names, OK))
            current.look(board_of({"local": good}, NOW_MS + MINUTE))
            saved_now = current.lock.load()

    told: dict[str, list[str]] = {"/open": [], "/close": []}
    for request in receiver.got:
        body = json.loads(request.body)
        told[request.path] += [each["group"] for each in body.get("groups", [body])]
    assert (open_then, saved_then, saved_now) == (10_000, 10_000, {})
    assert sorted(told["/open"]) == sorted(told["/close"]) == names
    assert len(receiver.got) <= 40


def test_an_incident_that_another_instance_ended_is_not_told_of_again(tmp_path: Path) -> None:
    """The receiver took the opening, the lead was lost before that was noted, and came back."""
    config, receiver = configured(tmp_path, CHANNEL), Receiver()
    current, other = (Instance(config, {"channel": receiver}) for _ in range(2))
    bad, good = statuses({"billing": ERR}), statuses({"billing": OK})
    notifying = current.notifying

    with in_threads([each.run for each in notifying.deliveries]):
        with in_threads([current.lock.run]):
            eventually(lambda: current.lock.leads)
            notifying.take_over()
            current.board = board_of({"local": bad}, NOW_MS)
            notifying.look(0, NOW_MS)
            eventually(lambda: len(receiver.got) == 1)
        with pytest.raises(LeadershipLost):
            notifying.note_delivered(NOW_MS)
        with instance(config, {"channel": receiver}) as other:
            other.look(board_of({"local": bad}, NOW_MS + MINUTE))
            other.look(board_of({"local": good}, NOW_MS + 2 * MINUTE))
        with in_threads([current.lock.run]):
            eventually(lambda: current.lock.leads)
            notifying.take_over()
            notifying.note_delivered(NOW_MS + 3 * MINUTE)
            current.look(board_of({"local": good}, NOW_MS + 3 * MINUTE))

    assert receiver.heard == ["open billing", "open billing", "close billing"]
    assert len({message.id for message in receiver.got}) == 1


def test_a_close_that_nobody_takes_for_a_day_is_given_up_and_counted(tmp_path: Path) -> None:
    receiver = Receiver()
    day = 24 * 60 * MINUTE
    with instance(configured(tmp_path, CHANNEL), {"channel": receiver}) as current:
        current.look(board_of({"local": statuses({"billing": ERR})}, NOW_MS))
        receiver.refusal = SendFailed("nobody is there", retry=True)
        good = statuses({"billing": OK})
        for turn, at in ((2, NOW_MS + MINUTE), (3, NOW_MS + day), (4, NOW_MS + day + 2 * MINUTE)):
            current.board = board_of({"local": good}, at)
            with capture_logs() as logged:
                current.notifying.look(turn * 10_000, at)
        (module,) = current.notifying.deliveries
        health, saved = module.health(), current.lock.load()

    outcomes = health.outcomes
    assert isinstance(outcomes, dict)
    assert (health.queued, outcomes["dropped"], saved) == (0, 1, {})
    (line,) = [line for line in logged if line["event"] == "close given up"]
    assert (line["log_level"], line["name"], line["group"]) == ("warning", "channel", "billing")


def test_a_receiver_that_fails_at_closes_hears_of_new_incidents_and_of_the_closes_later(
    tmp_path: Path,
) -> None:
    template = tmp_path / "a.tmpl"
    template.write_text("{{.Group}}")
    with http_receiver() as receiver, ExitStack() as process:
        hooks = "".join(
            f"""
            [notifier.{name}]
            class-name = "http"
            send-close = true
            send-once = true
            method-close = "DELETE"
            url-open = "{receiver.url}/{name}/{{{{.Group}}}}/{{{{.ID}}}}"
            url-close = "{receiver.url}/{name}/{close}"
            template-open = "{template}"
            template-close = "{template}"
            """
            for name, close in (
                ("incident", "{{.Group}}/{{.ID}}"),
                ("group", "{{.Group}}"),
            )
        )
        config = configured(tmp_path, hooks)

        def start() -> Instance:
            process.close()
            made = {name: make_sender(config.notifiers[name], config) for name in config.notifiers}
            return process.enter_context(instance(config, made))

        def got(method: str, status: int = 200) -> set[str]:
            return {r.path for r in receiver.got if (r.method, r.status) == (method, status)}

        def sent() -> list[int]:
            return [outcomes(current, name).get("sent", 0) for name in ("incident", "group")]

        def look(turn: int, groups: dict[str, Status]) -> None:
            now_ms = NOW_MS + turn * MINUTE
            current.notifying.note_delivered(now_ms)
            current.board = board_of({"local": statuses(groups)}, now_ms)
            current.notifying.look(turn * 10_000, now_ms)

        current = start()
        look(0, {"billing": ERR, "sales": OK})
        eventually(lambda: sent() == [1, 1])
        first = next(path for path in got("POST") if path.startswith("/incident"))
        receiver.failing = "DELETE"
        look(1, {"billing": OK, "sales": OK})
        eventually(lambda: got("DELETE", 500) == {first, "/group/billing"})
        look(2, {"billing": ERR, "sales": ERR})
        eventually(lambda: sent() == [3, 3])
        with capture_logs() as logged:
            look(3, {"billing": ERR, "sales": ERR})
        receiver.failing = ""
        receiver.got.clear()
        current = start()
        look(4, {"billing": ERR, "sales": ERR})
        eventually(lambda: sent() == [1, 0])
        late = got("DELETE")
        look(5, {"billing": OK, "sales": ERR})
        eventually(lambda: sent() == [2, 1])
        look(6, {"billing": OK, "sales": OK})
        eventually(lambda: sent() == [3, 2])
        current.notifying.note_delivered(NOW_MS + 6 * MINUTE)
        saved = current.lock.load()

    given_up = [line for line in logged if line["event"] == "close given up"]
    assert [(line["name"], line["group"]) for line in given_up] == [("group", "billing")]
    assert late == {first}  # the one that names a group would have ended its new incident
    assert not got("POST")  # send-once
    assert saved == {}


def test_a_growing_lag_is_told_to_slack_once_over_a_restart_and_so_is_its_end(
    tmp_path: Path,
) -> None:
    with http_receiver() as receiver, ExitStack() as process:
        growing = f"""
        [notifier.growing]
        class-name = "slack"
        webhook-url = "{receiver.url}/services/T/B/X"
        send-interval = 36000
        send-close = true
        lag-growing-for = 360
        lag-groups = "^billing$"
        """
        config = configured(tmp_path, growing)

        def start() -> Instance:
            process.close()
            made = {"growing": make_sender(config.notifiers["growing"], config)}
            return process.enter_context(instance(config, made))

        current, told = start(), []
        lags = [*range(10), RESTART, *range(10, 20), 3]
        for minute, lag in enumerate(lags):
            if lag is None:
                current = start()
                continue
            groups = {"billing": [Part(lag=lag)], "sales": [Part(lag=lag)]}
            current.look(board_of({"local": verdicts_of(groups)}, NOW_MS + minute * MINUTE))
            told += [(lag, json.loads(each.body)) for each in receiver.got]
            receiver.got.clear()

    assert [(lag, body["text"]) for lag, body in told] == [
        (6, ":large_yellow_circle: billing: lag is 6, growing for 360 s"),
        (3, ":large_green_circle: billing lag alert is over"),
    ]
