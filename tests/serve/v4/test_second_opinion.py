"""Both evaluators judge: what answers, metrics and the first view say of the one not deciding."""

from collections.abc import Iterator
from typing import Any

import pytest
from support.boards import NOW_S, board, cluster_board, windows_of, with_words
from support.http_side import Running, ask, running

from warren.evaluate import reasons
from warren.windows.windows import Windows

ENDS = {"bills": [9000], "orders": [1000, 1000]}
STARTS = {"bills": 5000}
PAUSE_S, PERIOD_S = 100, 3600
LOST = (
    "Retention has taken 4,000 messages that it had not read: its last commit is 1,000, and the "
    "log begins at 5,000."
)
EVIDENCE = {"records": 4000, "log_start": 5000, "log_end": 9000, "commit": 1000}
SILENT = "Nothing was committed for 60 s, longer than the 9 s that its last 10 commits span"


def commits(
    group: str, topic: str, partition: int, *, every_s: int, ago_s: int, behind: int
) -> list[tuple[str, str, int, int, int]]:
    end = ENDS[topic][partition] - behind
    return [
        (group, topic, partition, end - 10 * back, (NOW_S - ago_s - every_s * back) * 1000)
        for back in range(9, -1, -1)
    ]


# To Burrow a minute of silence after commits in every second is STOP, and what retention took is
# lag; to Warren the first is no more than its patience, and the second is lost.
COMMITS = [
    *commits("good", "orders", 0, every_s=10, ago_s=5, behind=0),
    *commits("lost", "bills", 0, every_s=600, ago_s=300, behind=8000),
    *commits("silent", "orders", 0, every_s=1, ago_s=60, behind=90),
    *commits("silent", "orders", 1, every_s=1, ago_s=60, behind=80),
]
DECIDES = {"old": None, "burrows": False, "warrens": True}


def made() -> Windows:
    """All that is known of their rhythm was learned before."""
    windows = windows_of(ENDS, COMMITS)
    memory, past = windows.grid.memory, windows.grid.past
    memory.commits[:] = 100
    memory.rested_s[:], memory.period_s[:] = NOW_S - 600, PERIOD_S
    past.pauses[:], past.paused_s[:] = PAUSE_S, NOW_S - 600
    return windows


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    clusters = {}
    for name, decides in DECIDES.items():
        windows = made()
        judged = cluster_board(windows, ENDS)
        if decides is not None:
            judged = with_words(judged, windows, STARTS, decides=decides)
        clusters[name] = judged
    with running(tmp_path_factory.mktemp("opinion")) as started:
        started.publish(board(**clusters))
        yield started


def get(server: Running, path: str, cluster: str, group: str, further: str = "") -> Any:
    answer = ask(server.port, f"{path}?cluster={cluster}&group={group}{further}")
    assert answer.status == 200, answer
    return answer.json


def test_a_group_has_both_opinions_and_its_rhythm(server: Running) -> None:
    rhythm = {"usual_gap_s": 1.0, "longest_pause_s": PAUSE_S, "period_s": PERIOD_S}
    cases = {
        ("burrows", "silent"): ("ERR", "caching", "OK", "OK", 2),
        ("warrens", "silent"): ("OK", "warren", "OK", "ERR", 2),
        ("burrows", "lost"): ("OK", "caching", "LOST", "LOST", 1),
        ("warrens", "lost"): ("ERR", "warren", "LOST", "OK", 1),
        ("burrows", "good"): ("OK", "caching", "OK", "OK", 0),
        ("warrens", "good"): ("OK", "warren", "OK", "OK", 0),
    }

    found = {}
    for each in cases:
        line = get(server, "/v4/group", *each)["summary"]
        said = line["judgement"]
        names = ("evaluator", "word", "other", "differing")
        found[each] = (line["status"], *(said[name] for name in names))

    assert found == cases
    assert get(server, "/v4/group", "warrens", "silent")["summary"]["judgement"]["rhythm"] == rhythm


def test_a_partition_has_both_opinions_and_since_when(server: Running) -> None:
    by_burrow = get(server, "/v4/group", "burrows", "lost")["partitions"][0]
    by_warren = get(server, "/v4/group", "warrens", "lost")["partitions"][0]

    assert by_warren["judgement"] == {
        "evaluator": "warren",
        "word": "LOST",
        "since_ms": NOW_S * 1000,
        "other": "OK",
        "differs": True,
        "limit_s": 2 * PAUSE_S + 60,
        "rhythm": {"usual_gap_s": 600, "longest_pause_s": PAUSE_S, "period_s": PERIOD_S},
        "evidence": EVIDENCE,
    }
    assert by_burrow["judgement"] == by_warren["judgement"] | {
        "evaluator": "caching",
        "other": "LOST",
    }
    assert [each["status"] for each in (by_burrow, by_warren)] == ["OK", "STOP"]
    assert [each["rule"] for each in (by_burrow, by_warren)] == ["catching_up", "lost"]


def test_a_board_without_words_answers_as_before(server: Running) -> None:
    """While Burrow's rules decide, the second opinion adds fields and changes none."""
    for path in ("/v4/group", "/v4/explain"):
        for group in ("good", "lost", "silent"):
            before = get(server, path, "old", group, "&all=true" if "explain" in path else "")
            now = get(server, path, "burrows", group, "&all=true" if "explain" in path else "")
            assert without(now) == without(before), (path, group)
            assert "judgement" not in str(before), (path, group)
            assert "second_opinion" not in before, (path, group)


def without(answer: Any) -> Any:
    """Without what the second opinion adds, and the cluster's name."""
    further = {"judgement", "rhythm", "second_opinion", "cluster"}
    if isinstance(answer, dict):
        return {key: without(each) for key, each in answer.items() if key not in further}
    return [without(each) for each in answer] if isinstance(answer, list) else answer


def test_burrows_answers_are_the_same_to_the_byte(server: Running) -> None:
    for what in ("status", "lag"):
        for group in ("good", "lost", "silent"):
            before, now = (
                ask(server.port, f"/v3/kafka/{cluster}/consumer/{group}/{what}").body
                for cluster in ("old", "burrows")
            )
            assert now.replace(b"burrows", b"old") == before, (group, what)


def test_explain_has_the_reason_of_the_one_that_decides_and_of_the_other(server: Running) -> None:
    silent = get(server, "/v4/explain", "warrens", "silent", "&all=true")
    lost = get(server, "/v4/explain", "warrens", "lost")
    by_burrow = get(server, "/v4/explain", "burrows", "lost", "&all=true")

    assert silent["second_opinion"].startswith(
        f"On orders:0, Burrow's rules would say STOP: {SILENT}"
    )
    assert silent["second_opinion"].endswith("They differ about 1 more of its partitions.")
    assert silent["reasons"][0]["change"] == (
        "It is STOP or STALL when records wait and it does not move for 4 min."
    )
    assert silent["reasons"][0]["rhythm"] == (
        "Its rhythm: a commit every 1 s, regular pauses of up to 100 s, a run every 60 min."
    )
    (reason,) = lost["reasons"]
    assert (reason["rule"], reason["why"], reason["since_ms"]) == ("lost", LOST, NOW_S * 1000)
    assert reason["change"] == "It ends with a commit beyond the start of the log."
    assert reason["evidence"] == EVIDENCE
    assert reason["second_opinion"].startswith("Burrow's rules would say OK: ")
    assert by_burrow["second_opinion"] == (f"On bills:0, Warren's evaluator would say LOST: {LOST}")
    assert by_burrow["reasons"][0]["rule"] == "catching_up"
    assert "since_ms" not in by_burrow["reasons"][0]


def test_a_pause_that_the_rhythm_explains_is_told() -> None:
    windows = made()
    with_words(cluster_board(windows, ENDS), windows, STARTS)
    later = with_words(cluster_board(windows, ENDS, now_s=NOW_S + 30), windows, STARTS)
    assert later.judgement is not None

    said = [reasons.why(later.judgement, line) for line in (0, 3)]

    pause = "it has not moved for 30 s; that is no fault before 4 min."
    assert said == [
        "Nothing is wrong: Warren has not seen it stand still while records wait.",
        f"Nothing is wrong: records wait, and {pause}",
    ]


def test_a_fast_rhythm_is_told_by_the_second() -> None:
    windows = made()
    judged = with_words(cluster_board(windows, ENDS), windows, STARTS).judgement
    assert judged is not None
    told = {}
    for gap_s in (0.0, 0.084, 0.51, 0.8, 1.04, 6.0):
        judged.usual_gap_s[0], judged.longest_pause_s[0] = gap_s, 0
        told[gap_s] = reasons.rhythm(judged, 0)

    assert told == {
        0.0: "",
        0.084: "Its rhythm: about 12 commits a second.",
        0.51: "Its rhythm: about 2 commits a second.",
        0.8: "Its rhythm: about 1 commit a second.",
        1.04: "Its rhythm: a commit every 1 s.",
        6.0: "Its rhythm: a commit every 6 s.",
    }


def test_the_evaluators_agree_about_most(server: Running) -> None:
    good = get(server, "/v4/explain", "warrens", "good", "&all=true")

    assert "second_opinion" not in good
    assert "second_opinion" not in good["reasons"][0]


def test_metrics_count_the_verdicts_that_differ(server: Running) -> None:
    lines = ask(server.port, "/metrics").body.decode().splitlines()

    assert [line for line in lines if line.startswith("warren_verdicts_that_differ")] == [
        'warren_verdicts_that_differ{cluster="burrows"} 3',
        'warren_verdicts_that_differ{cluster="warrens"} 3',
    ]


def test_the_first_view_says_it_too(server: Running) -> None:
    shown = ask(server.port, "/?cluster=warrens&group=silent").body.decode()
    agreed = ask(server.port, "/?cluster=warrens&group=good").body.decode()

    assert "Burrow&#x27;s rules would say STOP: Nothing was committed" in shown
    assert "Its rhythm: a commit every 1 s" in shown
    assert "would say" not in agreed
