"""Reports over HTTP: the forms of a request, what wrong ones get, who may send them."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.http_side import CONFIG, Actions, Response, Running, ask, running
from support.reported import NOW_MS, consumer

from warren.model.offset_reports import Report
from warren.pipeline.reported_offsets import ReportCheck, ReportedConsumer

PATH = "/v4/offsets"
JSON = {"content-type": "application/json"}
ORDERS = {"group": "job", "topic": "orders", "partition": 0, "offset": 40, "time": NOW_MS}


class Taking(Actions):
    """Takes reports for one cluster."""

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        super().__init__()
        self.consumer = consumer(clock=clock)
        self.reports = ReportCheck([self.consumer])


class Site:
    def __init__(self, server: Running, reported: ReportedConsumer) -> None:
        self.port = server.port
        self._reported = reported

    def post(self, body: object, **headers: str) -> Response:
        text = body if isinstance(body, str) else json.dumps(body)
        return ask(self.port, PATH, "POST", text, JSON | headers)

    def kept(self) -> list[Report]:
        return self._reported.collect()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    taking = Taking()
    with running(tmp_path_factory.mktemp("offsets"), actions=taking) as server:
        yield Site(server, taking.consumer)


def test_a_report_is_one_offset_or_many_or_a_list(site: Site) -> None:
    many = {"group": "job", "offsets": {"orders": {"0": 41, "1": 5}, "bills": {"0": 2**40}}}
    zoned = ORDERS | {"time": "2023-11-14T23:13:20+01:00", "group": "Überweisung/ü"}

    answers = [site.post(ORDERS).json, site.post(many).json, site.post([ORDERS, zoned]).json]
    first, second, third, fourth = site.kept()

    assert [each["kept"] for each in answers] == [1, 3, 2]
    assert all(each["board"]["moment_ms"] == 0 for each in answers)
    assert (first.offsets, first.time_ms) == ([("orders", 0, 40)], NOW_MS)
    assert (second.offsets[1:], second.time_ms) == ([("orders", 1, 5), ("bills", 0, 2**40)], None)
    assert [third.item, fourth.item] == [0, 1]
    assert (fourth.group, fourth.time_ms) == ("Überweisung/ü", NOW_MS)


def test_a_report_may_say_more_about_a_query_and_nothing_about_offsets(site: Site) -> None:
    query = {"id": "q", "run_id": "r", "ended": True, "error": "\n boom \n at line", "batch": 3}

    assert site.post({"group": "job", "query": query}).status == 200

    (report,) = site.kept()
    assert report.query is not None
    assert (report.query.error, report.query.has_ended, report.offsets) == ("boom", True, [])


def test_a_report_that_says_when_it_is_sent_has_its_time_put_right(site: Site) -> None:
    behind_ms = NOW_MS - 180_000
    sent = {"time": behind_ms - 5, "sent": behind_ms}

    assert site.post(ORDERS | sent).json["kept"] == 1
    assert site.post(ORDERS | sent | {"time": NOW_MS}).status == 400  # in the future then
    assert site.post(ORDERS | sent | {"sent": "yesterday"}).status == 400

    (report,) = site.kept()
    assert report.time_ms == NOW_MS - 5


WRONG: dict[str, dict[str, Any]] = {
    "offset -1 is not from 0 to 9223372036854775806": {"offset": -1},
    "offset 9223372036854775807 is not from": {"offset": 2**63 - 1},
    f"offset {10**30} is not from": {"offset": 10**30},
    "Expected `int | null`, got `float`": {"offset": 1.5},
    "Expected `int | null`, got `bool`": {"offset": True},
    "partition -1 is not from 0 to 2147483647": {"partition": -1},
    "orders:2: topic orders has partitions 0 to 1 in cluster local": {"partition": 2},
    "orders:2147483647: topic": {"partition": 2**31 - 1},
    "topic absent does not exist": {"topic": "absent"},
    "length >= 1": {"group": ""},
    "length <= 1000": {"group": "g" * 1001},
    "takes no reports; these do: local": {"cluster": "other"},
    "in the future": {"time": NOW_MS + 3_600_000},
    "is it in seconds?": {"time": NOW_MS // 1000},
    "more than expire-group": {"time": 0},
    "ago": {"time": -(2**40)},
    "is beyond the year 9999": {"time": 10**30},
    "is not like 2026-03-01T12:00:00Z": {"time": "yesterday"},
    "names no time zone": {"time": "2023-11-14T22:13:20"},
    "it needs topic, partition and offset": {"topic": None},
    "use one form": {"offsets": {}},
    "unknown field `offest`": {"offest": 1},
    "`float` >= 0.0": {"query": {"input_rate": -1}},
    "Expected `float | null`, got `str`": {"query": {"every_s": "often"}},
}


def test_each_that_is_wrong_is_named_with_the_reason_and_the_others_are_kept(site: Site) -> None:
    told = {why: site.post([ORDERS, ORDERS | wrong]) for why, wrong in WRONG.items()}

    wrongly = {
        why: answer.json
        for why, answer in told.items()
        if answer.status != 400
        or answer.json["kept"] != 1
        or [each["item"] for each in answer.json["refused"]] != [1]
        or why not in answer.json["refused"][0]["why"]
        or answer.json["message"].startswith("1 refused, 1 kept; item 1: ") is False
    }
    assert wrongly == {}
    assert len(site.kept()) == len(WRONG)


BODIES: dict[str, Any] = {
    "": "truncated",
    "{": "1 refused",
    "[": "no JSON",
    "[" * 100_000: "no JSON",
    '{"a":' * 100_000: "1 refused",
    "null": "Expected `object`",
    "[null, 7]": "2 refused",
    "[]": "0 items; must be from 1 to 10000",
    "\x00": "1 refused",
    '{"group": "\\ud800", "topic": "orders", "partition": 0, "offset": 1}': "1 refused",
    "[" + ",".join(["1"] * 10_001) + "]": "10001 items",
    json.dumps({"group": "g", "offsets": {"orders": dict.fromkeys(range(10_001), 1)}}): (
        "10001 offsets; must be at most 10000"
    ),
    json.dumps({"group": "g", "offsets": {"orders": {"x": 1}}}): "partition 'x' is no number",
    json.dumps({"group": "g", "offsets": {"orders": {"9" * 5000: 1}}}): "1 refused",
}


def test_hostile_bodies_are_refused_and_change_nothing(site: Site) -> None:
    told = {body: site.post(body) for body in BODIES}

    wrongly = {
        body[:80]: answer.body[:200]
        for body, answer in told.items()
        if answer.status != 400 or BODIES[body] not in answer.json["message"]
    }
    assert wrongly == {}
    assert site.kept() == []
    assert site.post(" " * (2**20 + 1)).status == 413
    assert site.post(ORDERS, **{"content-type": "text/plain"}).status == 415


def test_not_every_offset_of_a_hostile_report_is_named_in_the_answer(site: Site) -> None:
    offsets = dict.fromkeys(range(2, 10_000), 1) | {"0": 5}

    answer = site.post({"group": "job", "offsets": {"orders": offsets}}).json

    assert (answer["kept"], len(answer["refused"])) == (1, 100)
    assert answer["message"].startswith("9998 refused, 1 kept; item 0: orders:2: ")
    assert len(site.kept()) == 1


def test_where_no_consumer_takes_reports_the_answer_says_so(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        answer = ask(server.port, PATH, "POST", json.dumps(ORDERS), JSON)

    assert answer.status == 404
    assert "no [consumer.NAME] of class-name http" in answer.json["message"]


TOKENS = {
    'read-token = "read"\nwrite-token = "write"\nreport-token = "report"': {
        "": (401, 401, 401),
        "read": (403, 200, 401),
        "write": (200, 200, 200),
        "report": (200, 403, 403),
        "other": (401, 401, 401),
    },
    'report-token = "report"': {"": (401, 200, 200), "report": (200, 200, 200)},
    'read-token = "read"\nwrite-token = "write"': {
        "read": (403, 200, 401),
        "write": (200, 200, 200),
    },
    'read-token = "read"': {"": (401, 401, 401), "read": (403, 200, 401)},
    'report-token = "report"\nallow-writes = false': {"report": (403, 200, 403)},
}


@pytest.mark.parametrize("tokens", TOKENS, ids=lambda each: each.replace("\n", " "))
def test_reporting_is_a_right_of_its_own(tmp_path: Path, tokens: str) -> None:
    config = CONFIG.replace("[httpserver.default]", f"[httpserver.default]\n{tokens}")
    told = {}
    with running(tmp_path, config, Taking()) as server:
        for token in TOKENS[tokens]:
            own = {"authorization": f"Bearer {token}"} if token else {}
            told[token] = (
                ask(server.port, PATH, "POST", json.dumps(ORDERS), JSON | own).status,
                ask(server.port, "/v4/groups", headers=own).status,
                ask(server.port, "/v3/kafka/local/consumer/x", "DELETE", headers=own).status,
            )

    assert told == TOKENS[tokens]


DOCS = Path(__file__).parents[3] / "docs" / "spark-jobs.md"


def test_the_examples_of_the_documentation_work(tmp_path: Path) -> None:
    _, _, text = DOCS.read_text().partition("## Reports")
    blocks = dict(re.findall(r"```(sh|python)\n(.*?)```", text, re.DOTALL))
    config = CONFIG.replace("[httpserver.default]", '[httpserver.default]\nreport-token = "secret"')
    commands = {"sh": ["sh", "-c"], "python": [sys.executable, "-c"]}
    taking, told = Taking(time.time), {}

    with running(tmp_path, config, taking) as server:
        for language, command in commands.items():
            script = blocks[language].replace("localhost:8000", f"127.0.0.1:{server.port}")
            done = subprocess.run([*command, script], check=True, capture_output=True, text=True)
            told[language] = done.stdout

    kept = taking.consumer.collect()
    assert json.loads(told["sh"])["kept"] == 1
    assert told["python"] == "2\n"
    assert [len(each.offsets) for each in kept] == [1, 2]
    assert kept[1].query is not None
