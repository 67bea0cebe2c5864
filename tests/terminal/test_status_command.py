"""`warren status` and `warren lag`, asked of a real HTTP side."""

import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from support.boards import NOW_S, board, cluster_board, windows_of, with_words
from support.command_line import HOSTILE, ask, of, warren
from support.http_side import Running, running
from support.http_side import ask as get

from warren.serve.v4.shapes import Moment, Overview
from warren.terminal import group_choice, group_table, partition_table, status_options
from warren.terminal.group_choice import Filter
from warren.terminal.remote import Remote
from warren.terminal.words import age, shown, trend

NO_ACCESS = '[httpserver.default]\naddress = "127.0.0.1:0"\nread-token = "sesame"\n'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with warren(tmp_path_factory.mktemp("status")) as started:
        yield started


def groups_of(table: str) -> list[str]:
    """The first word of each line below the head of the table."""
    lines = table.splitlines()
    (head,) = [number for number, line in enumerate(lines) if line.startswith("group ")]
    return [line.split()[0] for line in lines[head + 1 :]]


def test_the_worst_group_comes_first(server: Running) -> None:
    done = ask("status", "--url", of(server))

    assert groups_of(done.stdout) == ["stuck", shown(HOSTILE), "slow", "good"]
    assert done.stdout.splitlines()[0] == "local: 4 groups  2 ERR  1 WARN  1 OK"


def test_the_exit_code_is_that_of_the_worst_group_shown(server: Running) -> None:
    cases: dict[tuple[str, ...], int] = {
        (): 4,
        ("--match", "sTu"): 4,
        ("--match", "slow"): 3,
        ("--match", "good"): 0,
        ("--match", "slow", "--json"): 3,
        ("--match", "good", "--bad"): 0,
        ("--match", "good", "--bad", "--json"): 0,
        ("--match", "godo"): 1,
        ("--match", "godo", "--json"): 1,
        ("--cluster", "elsewhere"): 1,
    }

    codes = {options: ask("status", "--url", of(server), *options).exit_code for options in cases}

    assert codes == cases


def test_only_what_is_asked_for_is_shown(server: Running) -> None:
    bad = ask("status", "--url", of(server), "--bad").stdout
    matching = ask("status", WARREN_URL=of(server), COLUMNS="80").stdout

    assert groups_of(bad) == ["stuck", shown(HOSTILE), "slow"]
    assert "good" in groups_of(matching)


def test_a_name_that_no_group_has_is_a_line(server: Running) -> None:
    asked = [("--match", "godo\x1b"), ("--cluster", "east"), ("--match", "y", "--cluster", "local")]

    done = [ask("status", "--url", of(server), *options) for options in asked]

    assert [each.stdout for each in done] == [""] * 3
    assert [each.stderr for each in done] == [
        "warren: there is no group with godo\\x1b in its name\n",
        "warren: there is no group in a cluster east\n",
        "warren: there is no group with y in its name in a cluster local\n",
    ]


def test_groups_can_be_had_in_other_orders(server: Running) -> None:
    evil = shown(HOSTILE)
    orders = {
        "trouble": ["stuck", evil, "slow", "good"],
        "-trouble": ["good", "slow", evil, "stuck"],
        "name": [evil, "good", "slow", "stuck"],
        "-name": ["stuck", "slow", "good", evil],
        "lag": ["stuck", evil, "slow", "good"],
        "-lag": ["good", "slow", evil, "stuck"],
    }

    found = {
        sort: groups_of(ask("status", "--url", of(server), "--sort", sort).stdout)
        for sort in orders
    }
    as_json = json.loads(ask("status", "--url", of(server), "--sort", "-name", "--json").stdout)

    assert found == orders
    assert [each["group"] for each in as_json["groups"]] == ["stuck", "slow", "good", HOSTILE]
    assert ask("status", "--url", of(server), "--sort", "size").exit_code == 2
    assert set(group_choice.ORDERS) == set(status_options.ORDERS)


def test_json_is_what_the_api_answers(server: Running) -> None:
    all_groups = ask("status", "--url", of(server), "--json").stdout
    one = ask("lag", "stuck", "--url", of(server), "--json").stdout

    assert json.loads(all_groups) == get(server.port, "/v4/groups").json
    assert json.loads(one) == get(server.port, "/v4/group?cluster=local&group=stuck").json


def test_a_hostile_name_is_shown_escaped(server: Running) -> None:
    table = ask("status", "--url", of(server)).stdout
    one = ask("lag", HOSTILE, "--url", of(server))

    escaped = r"evil\x1b[31m\u202etxt.[bold]exe\r\n"
    assert escaped in table
    assert escaped in one.stdout
    assert one.exit_code == 4
    for hidden in ("\x1b", "\u202e", "\r"):
        assert hidden not in table + one.stdout


def test_a_group_is_explained_partition_by_partition(server: Running) -> None:
    done = ask("lag", "stuck", "--url", of(server))

    said = done.stdout.splitlines()
    assert said[0].startswith("stuck in local: ERR  behind by > ")
    assert said[0].endswith("  lag 1,493 in 2 partitions")
    assert any("STALL orders:0" in line and "has not moved" in line for line in said)
    assert re.split(r"  +", said[-3])[:4] == ["topic", "partition", "status", "behind"]
    rows = [line.split() for line in said[-2:]]
    assert [row[:3] for row in rows] == [["orders", "0", "STALL"], ["orders", "1", "OK"]]
    assert "1,493" in rows[0]
    assert done.exit_code == 4


def test_the_second_opinion_is_told_below_the_reasons(tmp_path: Path) -> None:
    ends = {"orders": [1000]}
    every_second = [
        ("billing", "orders", 0, 10 * number, (NOW_S - 70 + number) * 1000) for number in range(10)
    ]
    windows = windows_of(ends, every_second)
    judged = with_words(cluster_board(windows, ends), windows, {})
    with running(tmp_path) as started:
        started.publish(board(local=judged))
        done = ask("lag", "billing", "--url", of(started))

    opinion = "  On orders:0, Warren's evaluator would say OK: Nothing is wrong: "
    assert any(line.startswith(opinion) for line in done.stdout.splitlines()), done.stdout


def test_what_does_not_fit_goes_on_below_itself(server: Running) -> None:
    remote = Remote(of(server))
    group, explanation = remote.group("local", "stuck"), remote.explain("local", "stuck")
    console = Console(width=60, file=StringIO())

    console.print(partition_table.render(group, explanation, 60))

    said = console.file.getvalue().splitlines()  # type: ignore[attr-defined]  # it is a StringIO
    first = next(at for at, line in enumerate(said) if line.startswith("  STALL orders:0"))
    assert all(line.startswith("  ") for line in said[first : said.index("")])
    assert said.index("") > first + 1


def test_narrow_terminals_cut_names_and_keep_numbers(server: Running) -> None:
    seen = Remote(of(server)).overview()
    lines = Filter().choose(group_table.lines(seen))
    shown_at = {}

    for width in (30, 60, 100, 140):
        console = Console(width=width, file=StringIO())
        console.print(group_table.render(seen, lines, width, most=3))
        shown_at[width] = console.file.getvalue().splitlines()  # type: ignore[attr-defined]  # it is a StringIO

    assert {
        width: max(map(len, text)) <= width for width, text in shown_at.items()
    } == dict.fromkeys(shown_at, True)
    for text in shown_at.values():
        assert any("1,493" in line and "ERR" in line for line in text)
        assert text[-1].strip() == "… and 1 more"
    assert "owner" not in shown_at[100][1]
    assert "owner" in shown_at[140][1]


def test_names_stay_readable_while_other_columns_go(tmp_path: Path) -> None:
    ends: dict[str, list[int | None]] = {"a-topic-with-a-rather-long-name": [1_234_567_890]}
    names = [f"payments-reconciliation-{number}" for number in range(3)]
    commits = [
        (name, topic, 0, 1000 + at, (NOW_S - 10 + at) * 1000)
        for name in names
        for topic in ends
        for at in range(10)
    ]
    with running(tmp_path) as started:
        judged = cluster_board(windows_of(ends, commits), ends)
        started.publish(board(**{"cluster-1": judged, "cluster-2": judged}))
        seen = Remote(of(started)).overview()
    lines = Filter().choose(group_table.lines(seen))
    heads, cut = {}, {}
    for width in (60, 80, 110, 140, 200):
        console = Console(width=width, file=StringIO())
        console.print(group_table.table(lines, seen.board.moment_ms, width))
        head, *rows = console.file.getvalue().splitlines()  # type: ignore[attr-defined]  # it is a StringIO
        heads[width] = re.split(r"  +", head.strip())
        cut[width] = {row.split()[1] for row in rows if "…" in row.split()[1]}

    assert {width: bool(some) for width, some in cut.items()} == {
        60: True,
        **dict.fromkeys((80, 110, 140, 200), False),
    }
    assert heads[110][-1] == "last commit"
    assert "catches up in" in heads[140]
    assert "age between" in heads[200]


def test_ages_and_trends_read_well() -> None:
    ages = {None: "never", -3.0: "0 s", 59.0: "59 s", 150.0: "2 min", 86_400.0: "24 h"}

    assert {seconds: age(seconds) for seconds in ages} == ages
    assert trend("0hz", 5) == "▁▄█"
    assert trend("000", 0) == trend("", 5) == ""
    assert trend("000", 5) == "▄▄▄"  # it waits, and does not change


def test_a_token_is_taken_from_the_environment_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("sesame\n")
    (tmp_path / "wrong").write_text("open")

    with warren(tmp_path, NO_ACCESS) as guarded:
        url = of(guarded)
        asked = {
            "none": ask("status", "--url", url),
            "wrong": ask("status", "--url", url, "--token-file", str(tmp_path / "wrong")),
            "file": ask("status", "--url", url, "--token-file", str(tmp_path / "token")),
            "environment": ask("status", "--url", url, WARREN_TOKEN="sesame"),
        }

    assert {name: done.exit_code for name, done in asked.items()} == {
        "none": 1,
        "wrong": 1,
        "file": 4,
        "environment": 4,
    }
    assert asked["none"].stderr == asked["wrong"].stderr
    assert "WARREN_TOKEN" in asked["none"].stderr


def test_a_group_of_several_clusters_wants_its_cluster_named(tmp_path: Path) -> None:
    with warren(tmp_path, names=("east", "west")) as two:
        unclear = ask("lag", "slow", "--url", of(two))
        clear = ask("lag", "slow", "--cluster", "west", "--url", of(two))
        both = ask("status", "--url", of(two), "--match", "slow")

    assert (unclear.exit_code, clear.exit_code) == (1, 3)
    assert "(east, west)" in unclear.stderr
    assert clear.stdout.startswith("slow in west: WARN")
    assert [line.split()[:2] for line in both.stdout.splitlines()[-2:]] == [
        ["east", "slow"],
        ["west", "slow"],
    ]


def test_reading_that_is_behind_is_told_above_the_groups() -> None:
    def heads(behind_s: float | None) -> list[str]:
        board = Moment(NOW_S * 1000, {}, behind_s)
        console = Console(width=100)
        with console.capture() as printed:
            console.print(group_table.render(Overview(board, ready=True, clusters=[]), [], 100))
        return printed.get().splitlines()

    told = {behind_s: heads(behind_s) for behind_s in (None, 3.1, 42.4, 600.0)}

    sentence = "Reading is behind: groups are shown as they were {} ago"
    assert told == {
        None: [],
        3.1: [],
        42.4: [sentence.format("42 s")],
        600.0: [sentence.format("10 min")],
    }
