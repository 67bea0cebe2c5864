"""`warren demo`: what it shows, and that nothing of it is left."""

import os
import re
import signal
from pathlib import Path

from support.demo_process import demo
from support.waiting import eventually

from warren.demo.demo_groups import GROUPS
from warren.demo.spark_jobs import JOBS

ROW = re.compile(r"^│ (\S+) +│ [^│]+ │ (\w+) +│ (\w+) +│ (\d+) s +│$", re.MULTILINE)


def test_every_group_gets_the_status_it_stands_for_and_nothing_is_left(tmp_path: Path) -> None:
    with demo(tmp_path, "--for", "20", "--partitions", "2", "--groups", "20") as started:
        code, said = started.ended()
        left = started.left()

    rows = {group: (expected, status) for group, expected, status, _ in ROW.findall(said)}
    came_out = {group.name: rows.get(group.name) for group in GROUPS}
    assert came_out == {group.name: (group.expected, group.expected) for group in GROUPS}, said
    assert all(job.name in said for job in JOBS)
    assert "The page:  http://127.0.0.1:" in said
    assert "of 19 groups" in said  # one was deleted
    assert code == 0
    assert left == []


def test_a_signal_while_it_starts_undoes_what_was_begun(tmp_path: Path) -> None:
    with demo(tmp_path) as started:
        code, said = started.signal_at("broker/broker.log", signal.SIGTERM)
        left = started.left()

    assert (code, said) == (0, "Stopped before it was up.\n")
    assert left == []


def test_a_second_ctrl_c_leaves_at_once_and_nothing_behind(tmp_path: Path) -> None:
    with demo(tmp_path) as started:
        code, said = started.signal_at("broker/broker.log", signal.SIGINT, signal.SIGINT)
        # Who watches over the demo ends a moment after it.
        eventually(lambda: not started.left())

    assert "Traceback" not in said
    assert code in {0, 128 + signal.SIGINT}  # both may have come as one


def test_when_spark_dies_it_says_so_and_keeps_what_was_to_be_kept(tmp_path: Path) -> None:
    with demo(tmp_path, "--keep", "--for", "600", "--port", "0", "--partitions", "2") as started:
        started.shown_at()
        for number, command in started.processes().items():
            if "PythonGatewayServer" in command and command.split()[0].endswith("/java"):
                os.kill(number, signal.SIGKILL)
        code, said = started.ended()
        (kept,) = tmp_path.iterdir()
        processes = started.processes()

    assert code == 1
    assert "Spark's Java process was ended by signal 9" in said
    assert "Traceback" not in said
    assert f"Kept: {kept}" in said
    assert {"warren.log", "burrow.toml", "history"} <= {each.name for each in kept.iterdir()}
    assert processes == {}
