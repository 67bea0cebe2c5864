"""Whatever clients commit: every route answers, no group is left out, the others are as before."""

import json
import random
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from confluent_kafka import KafkaException
from page.conftest import Look
from playwright.sync_api import Page, expect
from pyspark.sql import SparkSession
from support import records
from support.command_line import ask
from support.http_side import ask as get
from support.kafka_clients import Kafka
from support.monitor import Watching, source, storage, watching
from support.waiting import eventually

from warren.demo.broker import Broker
from warren.serve.http.dispatch import TABLE

MOST, LEAST = 2**63 - 1, -(2**63)
PARTITIONS = range(4)
TOPIC = "extreme-" + "t" * 241  # as long as Kafka lets a name be
RECORDS_TOPIC = "extreme-offsets"  # read as an offsets topic: brokers check what is in their own

OFFSETS = [LEAST, LEAST + 1, -(2**62), -2, -1, 0, 1, 2**31, 2**53 + 1, 2**62, MOST - 1, MOST]
TIMES = [
    *(LEAST, -1, 0, 2**31, 2**53 + 1, 2**62, MOST),
    *(253_402_300_799_999, 253_402_300_800_000),  # the end of the year 9999
    *(8_640_000_000_000_000, 8_640_000_000_000_001),  # the end of JavaScript's calendar
]
METADATA = ["", "x" * 32_767, "y" * 500_000]
NAMES = [
    "extreme <script>document.title='owned'</script>",
    "extreme \u202edrow eht sdrawkcab \u0623\u0648\u0627",
    "extreme \0 \t\r\n \x1b[31m \x7f \ufeff\ufffe",
    "extreme \U0001f389 &amp; \"quotes\" 'n' \\ / slash % ? # {} %2F ..",
    "extreme [bold]markup[/bold] ${HOME} {{.Group}}",
    "extreme " + "n" * 32_000,
]
ODD_NAMES = ["", " ", ".", "..", "__proto__", "extreme \ufffd"]
LOW, LOWEST, HIGHEST = "extreme low", "extreme lowest", "extreme highest"
FIXED = {LOW: -(2**62), LOWEST: LEAST, HIGHEST: MOST}
PLAIN = {"local": ["extreme-well"], "records": ["well", "behind"]}
ORDERS = ("name", "lag", "-lag", "status", "-status", "last_commit", "-last_commit")


class Extremes:
    """A broker on which clients commit whatever they like, and a Warren that watches it."""

    def __init__(self, watched: Watching, kafka: Kafka, log: Path) -> None:
        self.watched, self._kafka, self._log = watched, kafka, log
        self.port = watched.port or 0
        self.groups: set[tuple[str, str]] = set()  # by cluster
        self.before: dict[str, bytes] = {}  # what is answered about others
        self._chance = random.Random(13)  # noqa: S311  # nothing secret

    def commit_plain(self) -> None:
        now_ms = int(time.time() * 1000)
        self._kafka.commit("extreme-well", TOPIC, dict.fromkeys(PARTITIONS, 9))
        values = {"well": (9, now_ms), "behind": (3, now_ms - 60_000)}
        for group, value in values.items():
            self._write([(records.commit_key(group, TOPIC, 0), records.commit_value(*value))])
        self._wait("local", PLAIN["local"])
        self._wait("records", PLAIN["records"])

    def commit_absurd(self) -> None:
        """By requests, at the broker's time; and as records, with times and sizes of any kind."""
        for group, offset in FIXED.items():
            self._kafka.commit_anything(group, TOPIC, dict.fromkeys(PARTITIONS, offset))
        for group in NAMES * 3:
            offsets = {at: self._chance.choice(OFFSETS) for at in PARTITIONS}
            self._kafka.commit_anything(group, TOPIC, offsets)
        for group in [*NAMES, *ODD_NAMES, *FIXED]:
            self._write(self._records(group))
        self._write(self._records(b"extreme \xff"))  # the same as one of the odd names, in the end
        self._wait("local", [*NAMES, *FIXED])
        self._wait("records", [*NAMES, *ODD_NAMES, *FIXED])

    def _records(self, group: str | bytes) -> Iterator[tuple[bytes, bytes]]:
        for partition in [*PARTITIONS, -1, len(PARTITIONS), 2**31 - 1]:
            for version in (1, 3, 4):
                offset, at_ms = self._chance.choice(OFFSETS), self._chance.choice(TIMES)
                metadata = self._chance.choice(METADATA if version == 4 else METADATA[:2])
                value = records.commit_value(offset, at_ms, version=version, metadata=metadata)
                yield records.commit_key(group, TOPIC, partition), value
        last = records.commit_value(-(2**62), int(time.time() * 1000))
        yield from ((records.commit_key(group, TOPIC, partition), last) for partition in (1, 2, 3))

    def _write(self, written: Iterator[tuple[bytes, bytes]] | list[tuple[bytes, bytes]]) -> None:
        self._kafka.write(RECORDS_TOPIC, written)

    def _wait(self, cluster: str, groups: list[str]) -> None:
        eventually(lambda: {*groups} - {*self.watched.groups(cluster)}, set())
        self.groups |= {(cluster, group) for group in groups}

    def errors(self) -> list[str]:
        lines = self._log.read_text().splitlines()
        return [line for line in lines if json.loads(line)["level"] not in {"info", "warn"}]


@pytest.fixture(scope="module")
def extremes(
    spark: SparkSession, broker: Broker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Extremes]:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic(TOPIC, *[9 for _ in PARTITIONS])
    kafka.make_topic(RECORDS_TOPIC, 0)
    folder = tmp_path_factory.mktemp("extremes")
    config = (
        source("local", broker.bootstrap, 'group-allowlist = "^extreme"')
        + source("records", broker.bootstrap, f'offsets-topic = "{RECORDS_TOPIC}"')
        + storage(intervals=4)
        + f'[history]\ndirectory = "{folder / "history"}"\nhistory-interval = 1\nby-topic = "low"\n'
        + '[metrics]\nby-topic = "low$"\n'
    )
    with watching(spark, folder, config) as watched:
        eventually(watched.is_ready, expected=True)
        made = Extremes(watched, kafka, folder / "warren.log")
        made.commit_plain()
        made.before = answers_about_others(made)
        made.commit_absurd()
        yield made
    for group in [*NAMES, *FIXED]:
        with suppress(
            KafkaException
        ):  # the broker is everybody's; what is in nobody's way may stay
            kafka.delete_group(group)


def answers_about_others(extremes: Extremes) -> dict[str, bytes]:
    return {
        path: get(extremes.port, path).body
        for cluster, groups in PLAIN.items()
        for group in groups
        for path in paths_about(cluster, group)
        if path.startswith(("/v2", "/v3")) and not path.endswith(("/consumer", "/consumers"))
    }


def paths_about(cluster: str, group: str) -> Iterator[str]:
    """Every route that tells of a group or of its topic."""
    of_group = {"cluster": cluster, "group": group}
    of_topic = {"cluster": cluster, "topic": TOPIC}
    yield f"/?{urlencode(of_group)}"
    yield f"/v4/group?{urlencode(of_group)}"
    yield f"/v4/windows?{urlencode(of_group)}"
    yield f"/v4/explain?{urlencode({**of_group, 'all': 'true'})}"
    yield f"/v4/partition?{urlencode({**of_group, **of_topic, 'partition': 0})}"
    yield f"/v4/topic?{urlencode(of_topic)}"
    for method, path in TABLE:
        if method == "GET" and path.startswith(("/v2/kafka/{}/", "/v3/kafka/{}/")):
            named = [cluster, group, TOPIC] if "/consumer/" in path else [cluster, TOPIC]
            parts = iter(quote(name, safe="") for name in named)
            yield "/".join(next(parts) if part == "{}" else part for part in path.split("/"))


def test_every_route_answers(extremes: Extremes) -> None:
    fixed = {path for method, path in TABLE if method == "GET" and "{}" not in path}
    fixed -= {"/v4/events"}  # which does not end
    about = [path for each in extremes.groups for path in paths_about(*each)]

    codes = {path: get(extremes.port, path).status for path in [*fixed, *about]}

    assert {path: code for path, code in codes.items() if code >= 500} == {}
    ours = (path for path in about if path.startswith(("/?", "/v4/")))
    assert {path: codes[path] for path in ours if codes[path] != 200} == {}
    assert answers_about_others(extremes) == extremes.before


def test_every_list_has_every_group_and_no_lag_wraps(extremes: Extremes) -> None:
    port = extremes.port
    overview = get(port, "/v4/overview").json["clusters"]
    lines = [
        get(port, f"/v4/groups?limit=1000&sort={order}").json["groups"] for order in ORDERS
    ] + [[json.loads(line) for line in get(port, "/v4/groups?format=ndjson").body.splitlines()]]
    by_path = [
        {(at, name) for at in PLAIN for name in get(port, path.format(at)).json["consumers"]}
        for path in ("/v2/kafka/{}/consumer", "/v3/kafka/{}/consumer")
    ]

    lists = [{(each["cluster"], each["group"]) for each in some} for some in lines] + by_path
    lists.append({(each["name"], group) for each in overview for group in each["group"]})
    assert [extremes.groups - each for each in lists] == [set() for _ in lists]
    totals = {(each["cluster"], each["group"]): each["total_lag"] for each in lines[0]}
    assert all(0 <= lag <= MOST for lag in totals.values())
    told = {name: totals["local", name] for name in [*FIXED, "extreme-well"]}
    assert told == {LOW: MOST, LOWEST: MOST, HIGHEST: 0, "extreme-well": 0}
    samples = get(port, "/metrics").body.decode().split("\n")
    total = [line for line in samples if line.startswith("burrow_kafka_consumer_lag_total{")]
    assert len(total) == len(totals)
    assert all(0 <= int(line.rpartition(" ")[2]) <= MOST for line in total)
    lowest = f'{{cluster="local",consumer_group="{LOW}",topic="{TOPIC}"}} {MOST}'
    assert f"warren_consumer_topic_lag{lowest}" in samples


def kept(extremes: Extremes) -> bytes:
    """What history tells of the group with the least offsets, as soon as it does."""
    told = [b""]

    def lags() -> set[int | None]:
        told.append(extremes.watched.ask(f"/v4/history?cluster=local&group={LOW}&since=1h")[1])
        return {*json.loads(told[-1]).get("lag", [])}

    eventually(lambda: lags() - {None}, {MOST})
    return told[-1]


def test_the_terminal_shows_them(extremes: Extremes) -> None:
    url = f"http://127.0.0.1:{extremes.port}"
    done = [ask("status", "--url", url)]
    done += [
        ask("lag", group, "--cluster", at, "--url", url) for at, group in extremes.groups if group
    ]

    assert [each.output for each in done if not isinstance(each.exception, SystemExit | None)] == []
    assert f"{MOST:,}" in done[0].output


def test_the_page_shows_them_and_their_history(extremes: Extremes, look: Look) -> None:
    answer = kept(extremes)
    page = look(extremes)
    # Spark takes its time: the same past for all of them.
    page.route("**/v4/history?**", lambda route: route.fulfill(body=answer))

    page.locator(".live[data-state=live]").wait_for()
    search = page.get_by_role("searchbox")
    for cluster, group in sorted(extremes.groups):
        search.fill(group.strip()[-50:].strip())
        wait_for_row(page, cluster, group)
    for cluster, group in sorted(extremes.groups):
        open_place(page, f"#/group/{quote(cluster)}/{quote(group, safe='')}")
        is_there = "name => document.querySelector('h1 bdi')?.textContent === name"
        page.wait_for_function(is_there, arg=group)
        page.locator(".chart canvas").wait_for()
        rows = page.get_by_role("region", name="Partitions").locator("tbody tr")
        expect(rows).to_have_count(len(PARTITIONS))
        expect(page.locator(".problem")).to_have_count(0)
    page.get_by_role("button", name="1 h", exact=True).click()
    expect(page.locator(".heats .legend")).to_contain_text("9,223,000T messages")
    open_place(page, f"#/topic/local/{TOPIC}")
    expect(page.get_by_role("region", name="Groups")).to_contain_text(LOW)
    open_place(page, "#/health")
    page.locator("details").first.wait_for()
    assert extremes.errors() == []


def open_place(page: Page, place: str) -> None:
    page.evaluate("place => { location.hash = place }", place)


def wait_for_row(page: Page, cluster: str, group: str) -> None:
    is_there = """([cluster, group]) =>
        [...document.querySelectorAll(".list .rows .row:not([hidden])")].some(
            row => row.querySelector(".group bdi").textContent === group
                && row.querySelector(".group .of").textContent === cluster
                && row.querySelector(".age time"))"""
    page.wait_for_function(is_there, arg=[cluster, group])
