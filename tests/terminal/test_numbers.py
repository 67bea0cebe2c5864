"""Age, drain and loss in `warren status` and `warren lag`, from any Warren and from a Burrow."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from support.command_line import ask, of
from support.http_side import Running, running
from support.http_side import ask as get
from support.numbered_groups import HOSTILE, MOST, numbered_board
from support.servers.loopback import listening as serving

from warren.serve.v4.measured import Age, Drain, Lag, Measured
from warren.serve.v4.number_words import alarms, between, catch_up, duration
from warren.terminal import group_table
from warren.terminal.group_choice import Filter
from warren.terminal.remote import Remote

NEW = {
    *("lag", "lag_low", "lag_high", "age", "age_s", "age_low_s", "age_high_s", "age_method"),
    *("produced", "consumed", "drain", "drain_low_s", "drain_high_s", "margin_s", "lost", "lacks"),
    *("oldest", "scalable_lag", "offsets_expire_s"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("numbers")) as started:
        started.publish(numbered_board())
        yield started


def cells(table: str) -> dict[str, dict[str, str]]:
    """By group: what stands in its line, by the head of the column."""
    lines = table.splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.startswith("group ")]
    heads = [(found.group(), found.span()) for found in re.finditer(r"\S+( \S+)*", lines[at])]
    return {
        line[: heads[1][1][0]].strip(): {
            head: _cell(line, start, stop) for head, (start, stop) in heads
        }
        for line in lines[at + 1 :]
    }


def _cell(line: str, start: int, stop: int) -> str:
    """The words below the head, whichever side they are aligned to."""
    words = ((found.group(), found.span()) for found in re.finditer(r"\S+( \S+)*", line))
    return next((word for word, (a, b) in words if a < stop and b > start), "")


def test_the_age_is_the_first_number(server: Running) -> None:
    done = ask("status", "--url", of(server))

    table = cells(done.stdout)
    heads = list(table["late"])
    assert heads[: heads.index("lag") + 1] == ["group", "status", "behind", "age between", "lag"]
    assert {group: line["behind"] for group, line in table.items()} == {
        **dict.fromkeys(table, "12 min"),
        "older": "> 11 min",
        "unknown": "-",
        "idle": "0 s",
        "leaving": "0 s",
        "steady": "7 min",
        "extreme": "1,000+ y",
    }


def test_the_farthest_behind_comes_first_and_what_is_not_known_last(server: Running) -> None:
    def behind(sort: str) -> list[str]:
        table = cells(ask("status", "--url", of(server), "--sort", sort).stdout)
        return [line["behind"] for line in table.values()]

    assert [behind("behind")[0], behind("behind")[-1]] == ["1,000+ y", "-"]
    assert [behind("-behind")[0], behind("-behind")[-1]] == ["0 s", "-"]


def test_bounds_drain_and_rates_are_there_when_there_is_room(server: Running) -> None:
    table = cells(ask("status", "--url", of(server)).stdout)

    assert table["late"]["age between"] == "11 to 13 min, by log ends"
    assert table["close"]["age between"] == "12 min, by the timestamps of records"
    assert table["unknown"]["age between"] == ""
    assert {group: table[group]["catches up in"] for group in ("late", "doomed", "unsure")} == {
        "late": "5 to 7 min",
        "doomed": "never",
        "unsure": "10 min or never",
    }
    assert {group: table[group]["catches up in"] for group in ("idle", "unknown", "steady")} == {
        "idle": "0 s",
        "unknown": "-",
        "steady": "keeps pace",
    }
    assert (table["late"]["grows"], table["late"]["reads"]) == ("50.0/s", "52.5/s")


def test_what_is_lost_or_will_be_is_in_the_table_and_in_words(server: Running) -> None:
    table = cells(ask("status", "--url", of(server)).stdout)
    said = {group: ask("lag", group, "--url", of(server)).stdout for group in table}

    warned = {group: line["warning"] for group, line in table.items() if line["warning"]}
    assert warned == {
        "doomed": "loss in 40 min",
        "lossy": "1,204 lost",
        "unlucky": "1 lost, losing records",
        "leaving": "offsets expire in 20 h",
        "extreme": f"{MOST:,} lost",
    }
    assert "Unread records will be lost in about 40 min at this pace" in said["doomed"]
    assert "1,204 records were lost to retention" in said["lossy"]
    assert "1 record was lost to retention before the group had read it." in said["unlucky"]
    assert "are being lost now" in said["unlucky"]
    assert "will forget offsets of it in about 20 h" in said["leaving"]
    assert "lost" not in said["safe"]


def test_one_group_begins_with_its_age(server: Running) -> None:
    late = ask("lag", "late", "--url", of(server)).stdout.splitlines()
    unknown = ask("lag", "unknown", "--url", of(server)).stdout.splitlines()

    assert late[0] == (
        "late in local: OK  behind by 12 min (11 to 13 min, by log ends), catches up: 5 to 7 min"
        "  lag 1,000 in 1 partition"
    )
    assert late[-1].split()[:7] == ["orders", "0", "OK", "12", "min", "11", "to"]
    assert unknown[0] == "unknown in local: OK  lag 1,000 in 1 partition"
    assert unknown[-1].split()[:5] == ["orders", "0", "OK", "-", "1,000"]


def test_a_narrow_terminal_keeps_age_and_status(server: Running) -> None:
    seen = Remote(of(server)).overview()
    lines = Filter().choose(group_table.lines(seen))
    shown_at = {}
    for width in (50, 80, 120):
        console = Console(width=width, file=StringIO())
        console.print(group_table.render(seen, lines, width))
        shown_at[width] = console.file.getvalue()  # type: ignore[attr-defined]  # it is a StringIO

    wide = {width: max(map(len, text.splitlines())) for width, text in shown_at.items()}
    assert {width for width, widest in wide.items() if widest > width} == set()
    assert all("12 min" in text for text in shown_at.values())


def test_json_has_the_bounds(server: Running) -> None:
    found = json.loads(ask("lag", "late", "--url", of(server), "--json").stdout)

    assert found["summary"]["age"] == {
        "seconds": 720,
        "low": 660,
        "high": 780,
        "method": "by_ends",
    }
    assert found["partitions"][0]["drain"] == {"low": 300, "high": 420}


@contextmanager
def older(port: int) -> Iterator[str]:
    """A Warren that has no numbers: its answers without them."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = get(port, self.path)
            lines = [json.dumps(_without(json.loads(each))) for each in found.body.splitlines()]
            body = "\n".join(lines).encode()
            self.send_response(found.status)
            if "x-warren-board" in found.headers:
                self.send_header("x-warren-board", found.headers["x-warren-board"])
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler, None) as url:
        yield url


def _without(answer: Any) -> Any:
    if isinstance(answer, list):
        return [_without(each) for each in answer]
    if not isinstance(answer, dict):
        return answer
    is_commit = "committed_ms" in answer or set(answer) == {"topic", "partition", "lag"}
    gone = set() if is_commit else NEW
    return {name: _without(value) for name, value in answer.items() if name not in gone}


def test_an_older_warren_has_dashes(server: Running) -> None:
    with older(server.port) as url:
        table = cells(ask("status", "--url", url).stdout)
        one = ask("lag", "late", "--url", url).stdout.splitlines()

    assert {line["behind"] for line in table.values()} == {"-"}
    assert "warning" not in table["late"]
    assert one[0] == "late in local: OK  lag 1,000 in 1 partition"


def test_a_hostile_name_stays_a_name(server: Running) -> None:
    table = ask("status", "--url", of(server)).stdout

    assert HOSTILE.replace("\u202e", "\\u202e") in table
    assert "\u202e" not in table


def test_words_for_any_number() -> None:
    lengths = {0: "0 s", -5: "0 s", 119: "119 s", 150: "2 min", 3e9: "95 y"}
    spans = {(0, 0): "0 s", (50, 150): "50 s to 2 min", (300, 420): "5 to 7 min"}

    assert {seconds: duration(seconds) for seconds in lengths} == lengths
    assert {span: between(*span) for span in spans} == spans
    assert duration(2.0**63) == "1,000+ y"
    assert catch_up(Measured(), "OK") == ""
    assert alarms(Measured()) == []
    half = Measured(drain=Drain("never", "never"), lag=Lag(5, 5, 5), age=Age())
    assert catch_up(half, "OK") == "never"
