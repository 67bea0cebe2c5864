"""From checkpoints to groups: names, commits and removals."""

from support.checkpoint_files import BEGAN_MS

from warren.sources.checkpoint_batches import Checkpoint, CommittedBatch
from warren.sources.checkpoint_groups import CheckpointGroups
from warren.sources.checkpoint_log import Place
from warren.sources.outside_changes import IN_A_MS, OutsideCommit, OutsideKey

NOW_MS = BEGAN_MS + 60_000
FIRST, SECOND = ("orders", 0), ("orders", 1)


def batch(number: int, offsets: dict[Place, int], committed_ms: int = BEGAN_MS) -> CommittedBatch:
    return CommittedBatch(number, committed_ms + number, committed_ms - 400, offsets)


def checkpoint(path: str, *batches: CommittedBatch, query_id: str = "id-1") -> Checkpoint:
    newest = batches[-1] if batches else None
    return Checkpoint(path, "there", query_id, newest, [*batches], is_read=True)


def groups(template: str = "{name}") -> CheckpointGroups:
    return CheckpointGroups(template, lambda group: not group.startswith("left-out"))


def offsets(commits: list[OutsideCommit]) -> list[tuple[str, str, int, int | None]]:
    return [(*commit.key, commit.offset) for commit in commits]


def test_a_template_names_the_groups() -> None:
    found = checkpoint("s3a://lake/app/query-7/checkpoint", query_id="5c6a")
    nameless = checkpoint("/lake/app", query_id="")

    names = [
        groups(each).group_of(found) for each in ("{name}", "{parent}", "{id}", "spark-{parent}")
    ]

    assert names == ["checkpoint", "query-7", "5c6a", "spark-query-7"]
    assert groups("{id}").group_of(nameless) == ""
    assert groups("{name}").group_of(nameless) == "app"


def test_each_new_batch_commits_every_partition() -> None:
    known = groups()
    query = checkpoint("/cp/q", batch(1, {FIRST: 10}), batch(2, {FIRST: 20, SECOND: 5}))

    changes = known.take([query, checkpoint("/cp/left-out", batch(1, {FIRST: 1}))], NOW_MS)
    query.fresh = []
    again = known.take([query], NOW_MS)

    at_ms = BEGAN_MS + 2
    order = at_ms * IN_A_MS + 2
    assert offsets(changes.commits) == [
        ("q", "orders", 0, 10),
        ("q", "orders", 0, 20),
        ("q", "orders", 1, 5),
    ]
    assert changes.commits[-1] == OutsideCommit(OutsideKey("q", *SECOND), 5, at_ms, order)
    facts = changes.queries["q"]
    assert (facts.origin, facts.place, facts.id) == ("checkpoint", "/cp/q", "id-1")
    assert (facts.batch, facts.triggered_ms, facts.batch_ms) == (2, BEGAN_MS - 400, 402)
    assert (again.commits, known.groups) == ([], {"q"})


def test_partitions_and_checkpoints_that_go_are_removed() -> None:
    known = groups()
    query = checkpoint("/cp/q", batch(1, {FIRST: 10, SECOND: 5}))
    known.take([query, checkpoint("/cp/r", batch(1, {FIRST: 1}))], NOW_MS)

    query.fresh = [batch(2, {FIRST: 11, ("bills", 0): 1})]
    query.newest = query.fresh[-1]
    changes = known.take([query], NOW_MS)

    assert offsets(changes.commits) == [
        ("r", "orders", 0, None),
        ("q", "orders", 1, None),
        ("q", "orders", 0, 11),
        ("q", "bills", 0, 1),
    ]
    assert known.groups == {"q"}


def test_of_two_checkpoints_with_one_name_the_last_to_commit_is_the_group() -> None:
    known = groups()
    old, live = (
        checkpoint("/old/q", batch(5, {FIRST: 1})),
        checkpoint("/new/q", batch(9, {SECOND: 2})),
    )

    first = known.take([old, live], NOW_MS)
    shown = known.shown_by("q")
    second = known.take([old], NOW_MS)

    assert (offsets(first.commits), shown) == ([("q", "orders", 1, 2)], "/new/q")
    assert offsets(second.commits) == [("q", "orders", 1, None), ("q", "orders", 0, 1)]


def test_of_two_live_checkpoints_with_one_name_the_first_keeps_the_group() -> None:
    """Until it is silent for longer than it ever was: its job may have a new checkpoint."""
    known = groups()
    first, second = checkpoint("/a/q"), checkpoint("/b/q")
    minute_ms = 60_000
    told = []

    def commits(which: Checkpoint, minute: int) -> None:
        new = batch(minute, {FIRST: minute}, BEGAN_MS + minute * minute_ms)
        which.fresh, which.newest = [new], new
        changes = known.take([first, second], NOW_MS + minute * minute_ms)
        told.append((known.shown_by("q"), [commit.offset for commit in changes.commits]))
        which.fresh = []

    for minute in range(4):
        commits(first, 2 * minute)
        commits(second, 2 * minute + 1)
    first.longest_pause_ms = 60 * minute_ms
    commits(second, 95)
    commits(second, 97)

    assert told == [
        *[("/a/q", [0]), ("/a/q", [])],
        *[("/a/q", [2]), ("/a/q", [])],
        *[("/a/q", [4]), ("/a/q", [])],
        *[("/a/q", [6]), ("/a/q", [])],
        ("/a/q", []),
        ("/b/q", [97]),
    ]


def test_after_a_restart_a_group_keeps_its_checkpoint() -> None:
    old, new = checkpoint("/a/q", batch(5, {FIRST: 1})), checkpoint("/b/q", batch(9, {FIRST: 2}))
    known = CheckpointGroups("{name}", lambda _: True, {"q": "/a/q"})

    known.take([old, new], NOW_MS)

    assert known.shown_by("q") == "/a/q"


def test_a_checkpoint_that_cannot_be_read_any_more_keeps_its_group() -> None:
    known, query = groups(), checkpoint("/cp/q", batch(1, {FIRST: 10}))
    known.take([query], NOW_MS)
    query.problem, query.fresh = "cannot read offsets/2", []

    changes = known.take([query], NOW_MS)

    assert (changes.commits, known.groups) == ([], {"q"})


def test_a_commit_is_never_later_than_now() -> None:
    changes = groups().take([checkpoint("/q", batch(1, {FIRST: 1}, NOW_MS + 5_000))], NOW_MS)

    assert [commit.committed_ms for commit in changes.commits] == [NOW_MS]
    assert changes.queries["q"].seen_ms == NOW_MS
