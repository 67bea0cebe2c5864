"""Snapshots on disk: whole or as before, and never a reason not to start."""

import fcntl
import json
import os
import random
import select
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs
from support.batches import NOW, Record, batch, log_ends
from support.sample_snapshots import TOPIC_ID, fill, only, only_file, snapshots

from warren.errors import StartError
from warren.evaluate.judge import JudgeSettings, judge
from warren.pipeline.cluster import ClusterState
from warren.pipeline.consumers import Sources
from warren.pipeline.snapshots import FACTS
from warren.sources.group_offsets import partition_of
from warren.sources.log_ends import TopicListing
from warren.windows.window_reader import detail, window_arrays

PIPE_SIZE = 4096


def saved(directory: Path) -> Path:
    of = snapshots(directory)
    fill(of)
    of.save()
    return only_file(directory)


def restored(directory: Path) -> tuple[ClusterState, list[str]]:
    """A new start; the cluster, and what was said of a snapshot that is of no use."""
    of = snapshots(directory)
    with capture_logs() as lines:
        of.restore()
    return only(of), [line["reason"] for line in lines if line["log_level"] == "warning"]


def test_a_cluster_is_as_it_was(tmp_path: Path) -> None:
    saved(tmp_path)
    of = snapshots(tmp_path)

    of.restore()
    cluster = only(of)

    assert [commit.offset for commit in detail(cluster.windows, "café")["t"][0].commits] == [5]
    assert cluster.membership.groups["café"].epoch == 3
    assert cluster.topics == TopicListing({"t": 1}, {}, {"t": TOPIC_ID})
    assert of.topic_consumers["c"].progress.position == {0: 2, 1: 99}
    assert cluster.topics_s == 5
    assert cluster.restored_s > 0


def test_until_later_commits_are_read_lag_is_that_of_the_snapshot(tmp_path: Path) -> None:
    first, home = snapshots(tmp_path), partition_of("g", 2)
    cluster = only(first)
    cluster.topics, cluster.ends_s = TopicListing({"t": 1, "__consumer_offsets": 2}, {}, {}), NOW
    cluster.windows.set_log_ends(log_ends(10), {"t": 1}, now_s=NOW)
    cluster.windows.fold(batch(Record(1, 10)), NOW)
    first.topic_consumers["c"].progress.position.update({home: 2})
    first.topic_consumers["c"].progress.read_s.update({home: NOW})
    cluster.clock = lambda: NOW
    first.save()
    again = snapshots(tmp_path)

    again.restore()
    only(again).windows.set_log_ends(log_ends(5_000), {"t": 1}, now_s=NOW + 3_600)
    sources = Sources([again.topic_consumers["c"]])
    lags = []
    for read_s in (NOW, NOW + 3_600):
        again.topic_consumers["c"].progress.read_s[home] = read_s
        shown = window_arrays(
            only(again).windows, partial(sources.read_until_s, only(again).windows)
        )
        lags.append(judge(shown, JudgeSettings(), NOW + 3_600).groups.total_lag.tolist())

    assert lags == [[0], [4_990]]


def test_a_damaged_snapshot_is_set_aside_wherever_the_damage_is(tmp_path: Path) -> None:
    whole = saved(tmp_path).read_bytes()
    chance = random.Random(1)  # noqa: S311  the same damage every time
    cut = [whole[:length] for length in (0, 1, 30, len(whole) // 2, len(whole) - 1)]
    flipped = []
    for _ in range(300):
        at = chance.randrange(len(whole))
        flipped.append(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
    file = only_file(tmp_path)

    harmed = 0
    for damaged in [*cut, *flipped]:
        file.write_bytes(damaged)
        cluster, reasons = restored(tmp_path)
        if reasons:
            harmed += 1
            assert not file.exists()
            assert cluster.windows.pairs.groups.ids == {}
            assert cluster.restored_s == 0
        else:  # a byte that nothing depends on, such as a date in the archive
            assert [*detail(cluster.windows, "café")] == ["t"]

    assert harmed > 200


def test_a_snapshot_of_another_version_is_set_aside(tmp_path: Path) -> None:
    file = saved(tmp_path)
    with np.load(file) as held:
        arrays = {name: held[name] for name in held.files}
    facts = json.loads(arrays[FACTS].tobytes()) | {"version": 0}
    arrays[FACTS] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    np.savez(file, **arrays)

    _, reasons = restored(tmp_path)

    assert reasons == ["it has version 0, this Warren reads version 3"]


def test_a_snapshot_made_with_other_settings_is_set_aside(tmp_path: Path) -> None:
    saved(tmp_path)
    of = snapshots(tmp_path, intervals=11)

    with capture_logs() as lines:
        of.restore()

    assert [line.get("reason") for line in lines] == ["it was made with other settings"]


def test_a_full_disk_leaves_the_snapshot_before(tmp_path: Path) -> None:
    file = saved(tmp_path)
    before = file.read_bytes()
    file.with_suffix(".unfinished").symlink_to("/dev/full")
    of = snapshots(tmp_path)
    fill(of)

    with pytest.raises(OSError, match="No space left"):
        of.save()

    assert only_file(tmp_path) == file
    assert file.read_bytes() == before


def test_a_directory_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StartError, match="state-dir"):
        snapshots(tmp_path / "file" / "state").restore()


def test_nothing_is_saved_before_the_brokers_have_answered(tmp_path: Path) -> None:
    of = snapshots(tmp_path)

    of.save()

    assert [*tmp_path.iterdir()] == []


def test_a_snapshot_made_before_the_past_is_caught_up_with_is_no_newer_than_the_past(
    tmp_path: Path,
) -> None:
    saved(tmp_path)
    first, _ = restored(tmp_path)
    replaying = snapshots(tmp_path)
    replaying.restore()
    only(replaying).ends_s = first.restored_s + 3600
    only(replaying).clock = lambda: first.restored_s + 3600
    replaying.save()

    again, _ = restored(tmp_path)

    assert again.restored_s == first.restored_s


def test_the_groups_outside_kafka_are_known_by_consumer(tmp_path: Path) -> None:
    of = snapshots(tmp_path)
    fill(of)
    only(of).outside_groups = {"asked": {"g"}, "unread": None}
    of.save()

    cluster, _ = restored(tmp_path)

    assert cluster.known_outside_groups() == {"asked": {"g"}}


def test_one_saves_at_a_time(tmp_path: Path) -> None:
    file = saved(tmp_path)
    before = file.read_bytes()
    others = [snapshots(tmp_path) for _ in range(2)]
    for each in others:
        fill(each)
        only(each).windows.fold(batch(Record(2, 7, group="late")), NOW)
    threads = [threading.Thread(target=each.save) for each in others]

    with (tmp_path / "lock").open() as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        for thread in threads:
            thread.start()
        threads[0].join(0.2)  # it cannot end before it has its turn, however long one waits
        waited = file.read_bytes() == before and only_file(tmp_path) == file
    for thread in threads:
        thread.join()

    assert waited
    assert sorted(restored(tmp_path)[0].windows.pairs.groups.ids) == ["café", "late"]


SAVE = """
import pathlib, sys
from support.sample_snapshots import fill, snapshots
of = snapshots(pathlib.Path(sys.argv[1]))
fill(of)
of.save()
"""


def test_a_process_killed_in_the_middle_of_a_snapshot_leaves_the_one_before(tmp_path: Path) -> None:
    file = saved(tmp_path)
    before, unfinished = file.read_bytes(), file.with_suffix(".unfinished")
    os.mkfifo(unfinished)  # nobody reads it: whoever writes gets stuck half way
    pipe = os.open(unfinished, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SAVE, str(tmp_path)]

    with subprocess.Popen(command, env=environment) as saving:
        while not select.select([pipe], [], [], 1)[0]:
            assert saving.poll() is None
        saving.kill()
    part = os.read(pipe, PIPE_SIZE)
    os.close(pipe)
    unfinished.unlink()
    unfinished.write_bytes(part)  # as it would be on a disk
    after = file.read_bytes()
    cluster, reasons = restored(tmp_path)

    assert (after, reasons) == (before, [])
    assert [*detail(cluster.windows, "café")] == ["t"]
    assert saved(tmp_path).read_bytes() != before
    assert not unfinished.exists()
