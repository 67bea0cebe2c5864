"""Three processes, one lead: frozen or cut off, another takes over and knows all."""

import itertools
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.contest import Contest, contest
from support.servers.zookeeper import Zookeeper
from support.waiting import eventually

CONTENDER = Path(__file__).with_name("contender.py")
SESSION_S = 2
START_S = 8  # of three interpreters on a busy machine, or of a group that forms anew


@pytest.fixture(scope="module")
def zookeeper() -> Iterator[Zookeeper]:
    with Zookeeper() as running:
        yield running


def config(directory: Path, zookeeper: Zookeeper) -> str:
    template = directory / "open.tmpl"
    template.write_text("")
    return f"""
        [zookeeper]
        servers = ["{zookeeper.address}"]
        timeout = {SESSION_S}
        root-path = "/of/{directory.name}/burrow"
        [notifier.nobody]
        class-name = "null"
        template-open = "{template}"
    """


def assert_nobody_led_beside_another(contending: Contest) -> None:
    """Each had been seen leading for the last time before the next one began."""
    led = [(event["began"], event["pid"]) for event in contending.events("leads")]
    seen = [(event["seen_leading"], event["pid"]) for event in contending.events("ceased")]
    for (_, first), (began, second) in itertools.pairwise(sorted(led)):
        later = [at for at, pid in seen if pid == first and at > began and first != second]
        ended = [at for at, pid in seen if pid == first and at <= began]
        assert ended or not later


def test_a_leader_that_was_frozen_wakes_up_without_the_lead(
    tmp_path: Path, zookeeper: Zookeeper
) -> None:
    with contest(tmp_path, config(tmp_path, zookeeper), CONTENDER) as contending:
        first = contending.leader()
        frozen = contending.signal(first["pid"], signal.SIGSTOP)
        second = contending.leader(after=frozen)
        contending.signal(first["pid"], signal.SIGCONT)
        eventually(lambda: contending.events("ceased") + contending.events("lost"))

        assert second["pid"] != first["pid"]
        assert contending.events("woke up leading") == []


@pytest.mark.alone
def test_while_zookeeper_is_away_nobody_leads_and_nothing_is_lost(
    tmp_path: Path, zookeeper: Zookeeper
) -> None:
    with contest(tmp_path, config(tmp_path, zookeeper), CONTENDER) as contending:
        first = contending.leader()
        zookeeper.stop()
        eventually(
            lambda: contending.events("ceased") + contending.events("lost"), seconds=SESSION_S
        )
        back = time.monotonic()
        zookeeper.start()
        second = contending.leader(after=back, seconds=SESSION_S + START_S)
        frozen = time.monotonic()
        zookeeper.freeze()
        eventually(lambda: len(contending.events("ceased") + contending.events("lost")) == 2)
        zookeeper.thaw()
        third = contending.leader(after=frozen, seconds=SESSION_S + START_S)

        assert f"leader {first['pid']}" in second["found"]
        assert f"leader {second['pid']}" in third["found"]
        assert_nobody_led_beside_another(contending)
