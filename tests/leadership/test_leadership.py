"""One leads, and what it saves is there for the next: by ZooKeeper, by Kafka, by a file."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Producer
from support.config_files import MINIMAL, load_text, problems_of
from support.servers.zookeeper import Zookeeper
from support.waiting import eventually

from warren.clients import zookeeper as clients
from warren.config import Tls
from warren.config import Zookeeper as Settings
from warren.demo.broker import Broker
from warren.errors import LeadershipLost
from warren.leadership.file_lock import FileLock
from warren.leadership.kafka_lock import KafkaLock
from warren.leadership.leadership import Leadership, directory, leadership
from warren.leadership.zookeeper_lock import ZookeeperLock

LEAD_S = 20.0
Make = Callable[[], Leadership]


@pytest.fixture(scope="module")
def zookeeper() -> Iterator[Zookeeper]:
    with Zookeeper() as running:
        yield running


@pytest.fixture(params=["zookeeper", "kafka", "file"])
def make(
    request: pytest.FixtureRequest, zookeeper: Zookeeper, broker: Broker, tmp_path: Path
) -> Make:
    """Makes one instance after another that contend for the same lead."""
    match request.param:
        case "zookeeper":
            return lambda: in_zookeeper(zookeeper, f"/{tmp_path.name}")
        case "kafka":
            kafka = {"bootstrap.servers": broker.bootstrap, "log_level": 0}
            return lambda: KafkaLock(kafka, tmp_path.name)
        case _:
            return lambda: FileLock(tmp_path / "not" / "there")


def in_zookeeper(server: Zookeeper, root: str, tls: Tls | None = None) -> ZookeeperLock:
    settings = Settings(servers=(server.address,), timeout=2, root_path=root)
    return ZookeeperLock(settings, tls)


@contextmanager
def contending(lock: Leadership) -> Iterator[Leadership]:
    stop = threading.Event()
    thread = threading.Thread(target=lock.run, args=(stop,))
    thread.start()
    try:
        yield lock
    finally:
        stop.set()
        thread.join()


@contextmanager
def leading(lock: Leadership) -> Iterator[Leadership]:
    with contending(lock):
        eventually(lambda: lock.leads, seconds=LEAD_S)
        yield lock


def test_what_one_saves_the_next_loads_however_much_and_however_named(make: Make) -> None:
    many = {f"cluster/{'g' * 400}-{n}": b"incident" * 50 for n in range(10_000)}
    odd = {"": b"no name", "a/b c\n": b"", "not UTF-8 \udcff": b"\x00\xff", "Ü": b"1"}

    with leading(make()) as first:
        nothing = first.load()
        first.save(many | odd)
        first.save({"Ü": None, "": b"changed", "never was": None})
        again = first.load()
    with leading(make()) as second:
        loaded = second.load()

    del odd["Ü"]
    assert nothing == {}
    assert loaded == many | odd | {"": b"changed"}
    assert again == loaded


def test_who_does_not_lead_neither_loads_nor_saves(make: Make) -> None:
    lock = make()
    with leading(make()), contending(lock):
        for forbidden in (lock.load, lambda: lock.save({"key": b"value"})):
            with pytest.raises(LeadershipLost):
                forbidden()
        assert not lock.leads
    with pytest.raises(LeadershipLost):
        lock.save({"key": b"value"})


def test_a_place_taken_away_stops_what_would_have_been_saved(zookeeper: Zookeeper) -> None:
    with zookeeper.client() as client, leading(in_zookeeper(zookeeper, "/deep/er")) as lock:
        lock.load()
        lock.save({"key": b"kept"})
        (place,) = client.get_children("/deep/er/notifier")
        client.delete(f"/deep/er/notifier/{place}")

        with pytest.raises(LeadershipLost):
            lock.save({"key": b"never"})
        with pytest.raises(LeadershipLost):
            lock.save({"key": b"never, before it is loaded again"})

        eventually(lambda: lock.leads, seconds=LEAD_S)
        assert lock.load() == {"key": b"kept"}


def test_a_later_writer_shuts_out_the_one_before(broker: Broker) -> None:
    kafka = {"bootstrap.servers": broker.bootstrap, "log_level": 0}
    with leading(KafkaLock(kafka, "shut-out")) as lock:
        lock.save({"key": b"kept"})
        Producer(kafka | {"transactional.id": "shut-out"}).init_transactions(LEAD_S)

        with pytest.raises(LeadershipLost):
            lock.save({"key": b"never"})

        eventually(lambda: lock.leads, seconds=LEAD_S)
        assert lock.load() == {"key": b"kept"}


def test_a_burrow_that_holds_the_lock_is_waited_for(zookeeper: Zookeeper) -> None:
    with zookeeper.client() as burrow:
        prefix = "/shared/notifier/_c_5f3c8a1e9d2b47c0a6e1f0b9d8c7a6b5-lock-"
        held = burrow.create(prefix, ephemeral=True, sequence=True, makepath=True)
        with contending(in_zookeeper(zookeeper, "/shared")) as lock:
            line = eventually(lambda: len(burrow.get_children("/shared/notifier")) == 2)
            led_meanwhile = lock.leads
            burrow.delete(held)
            eventually(lambda: lock.leads, seconds=LEAD_S)

    assert line
    assert not led_meanwhile


# kazoo leaves the socket of a failed handshake to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_tls_is_spoken_and_an_unknown_authority_is_no_reason_to_trust() -> None:
    with Zookeeper(secure=True) as server:
        with leading(in_zookeeper(server, "/burrow", Tls(cafile=str(server.ca)))) as lock:
            lock.load()
            lock.save({"key": b"value"})
        with contending(in_zookeeper(server, "/burrow", Tls())) as distrustful:
            problem = eventually(lambda: distrustful.problem)

    assert problem == f"no ZooKeeper server answers of {server.address}"


def test_a_lock_file_that_was_removed_is_no_lock(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path), FileLock(tmp_path)
    with leading(first), contending(second):
        (tmp_path / "lock").unlink()
        eventually(lambda: second.leads != first.leads and (tmp_path / "lock").exists())


def test_a_lock_file_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with contending(FileLock(tmp_path / "file" / "below")) as lock:
        problem = eventually(lambda: lock.problem)

    assert problem == f"{tmp_path}/file/below/lock: Not a directory"
    assert not lock.leads


NOTIFIER = MINIMAL + '[notifier.n]\nclass-name = "null"\ntemplate-open = "{template}"\n'
ZOOKEEPER = '[zookeeper]\nservers = ["localhost:2181"]\n'


def lock_of(tmp_path: Path, text: str) -> str:
    return type(leadership(load_text(tmp_path, text).config)).__name__


def test_the_lock_is_the_one_configured_else_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "open").touch()
    notifier = NOTIFIER.format(template=tmp_path / "open")
    kafka = '[general]\nnotifier-lock = "Kafka"\nnotifier-cluster = "local"\n'
    cases = {
        "nothing there": (notifier, "FileLock"),
        "ZooKeeper": (notifier + ZOOKEEPER, "ZookeeperLock"),
        "a file all the same": (
            '[general]\nnotifier-lock = "file"\n' + notifier + ZOOKEEPER,
            "FileLock",
        ),
        "Kafka": (kafka + notifier + ZOOKEEPER, "KafkaLock"),
    }

    wrong = [name for name, (text, lock) in cases.items() if lock_of(tmp_path, text) != lock]

    assert wrong == []


def test_a_lock_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open").touch()
    notifier = NOTIFIER.format(template=tmp_path / "open")
    lock = '[general]\nnotifier-lock = "{}"\n'

    without_servers = problems_of(tmp_path, lock.format("zookeeper") + notifier)
    elsewhere = problems_of(tmp_path, lock.format('kafka"\nnotifier-cluster = "far') + notifier)
    unknown = problems_of(tmp_path, lock.format("etcd") + notifier)

    assert [problem.partition(":")[0] for problem in without_servers + elsewhere + unknown] == [
        "general.notifier-lock",
        "general.notifier-cluster",
        "general.notifier-lock",
    ]


def test_instances_with_one_configuration_meet_at_one_file(tmp_path: Path) -> None:
    first = load_text(tmp_path, MINIMAL).config
    (tmp_path / "open").touch()
    more = f'[notifier.x]\nclass-name = "null"\ntemplate-open = "{tmp_path}/open"\n'
    same = load_text(tmp_path, f"{MINIMAL}{more}[httpserver.default]\naddress = ':1'\n").config
    other = load_text(tmp_path, MINIMAL.replace("localhost:9092", "elsewhere:9092")).config
    placed = load_text(tmp_path, '[general]\nstate-dir = "/var/lib/warren"\n' + MINIMAL).config
    environ = {"HOME": "/home/w"}

    assert directory(first, environ) == directory(same, environ) != directory(other, environ)
    assert directory(first, environ).parent == Path("/home/w/.local/state/warren")
    assert directory(placed, environ) == Path("/var/lib/warren/notifier")


def test_foreign_or_damaged_nodes_do_not_keep_anybody_from_leading(zookeeper: Zookeeper) -> None:
    with leading(in_zookeeper(zookeeper, "/damaged")) as first:
        first.load()
        first.save({f"key-{n}": b"kept" for n in range(1000)})
    state = "/damaged/notifier-state"
    with zookeeper.client() as client:
        for name in ("README", "1ff", "-1"):
            client.create(f"{state}/{name}", b"not ours")
        damaged = sorted(client.get_children(state))[1]
        client.set(f"{state}/{damaged}", b"\xc1 damaged")

    with leading(in_zookeeper(zookeeper, "/damaged")) as second:
        left = second.load()
        second.save({f"key-{n}": b"new" for n in range(1000)})
        mended = second.load()

    assert 900 < len(left) < 1000
    assert mended == {f"key-{n}": b"new" for n in range(1000)}


def test_the_session_is_as_long_as_the_server_grants(zookeeper: Zookeeper) -> None:
    granted = {}
    for asked_s in (0.1, 3, 60):
        client = clients.client([zookeeper.address], asked_s)
        client.start(LEAD_S)
        granted[asked_s] = client.session_s
        clients.close(client)

    assert granted == {0.1: 1.0, 3: 3.0, 60: 10.0}  # two ticks at least, twenty at most
