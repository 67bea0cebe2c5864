"""Looks at checkpoints while rights to them are taken away, and prints what was found, as JSON.

    python -m support.refused_files DIRECTORY

It runs in a process of its own that `without_rights` starts: root may read whatever its mode.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from support.checkpoint_files import CheckpointFiles

from warren.sources.checkpoints import Checkpoints
from warren.spark.hadoop_files import HadoopFiles
from warren.spark.session import start_session, stop_session

LOOKS = 5  # one of them compares the newest batch
RIGHTS = "-dac_override,-dac_read_search"
WHERE = {
    "a log": ("query/offsets/1", 0o000),
    "the logs": ("query/offsets", 0o000),
    "commits": ("query/commits", 0o000),
    "a checkpoint": ("query", 0o000),
    "a location": (".", 0o000),
    "what is in a location": (".", 0o444),
}


def without_rights(place: Path) -> Any:
    """What this module prints as a user whom modes of files bind."""
    bound = ["setpriv", f"--bounding-set={RIGHTS}", f"--inh-caps={RIGHTS}"]
    command = [sys.executable, "-m", "support.refused_files", str(place)]
    done = subprocess.run(
        [*(bound if os.geteuid() == 0 else []), *command],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def main(place: Path) -> None:
    spark = start_session("local[1]", "refused", {}, "512m", bundles=())
    files = HadoopFiles(spark)
    told = {name: look(files, place / name, *where) for name, where in WHERE.items()}
    sys.stdout.write(json.dumps(told))
    stop_session(spark)


def look(files: HadoopFiles, place: Path, where: str, mode: int) -> dict[str, Any]:
    """Two checkpoints are there; one of them goes on while a right is missing."""
    good, query = CheckpointFiles(place / "good"), CheckpointFiles(place / "query")
    for each in (good, query):
        each.commit(0, {"orders": {"0": 1}})
    checkpoints = Checkpoints(files, [str(place)], 3)
    checkpoints.look(time.time(), lambda: False)
    query.commit(1, {"orders": {"0": 2}})
    before = (place / where).stat().st_mode
    (place / where).chmod(mode)
    for _ in range(LOOKS):
        checkpoints.look(time.time(), lambda: False)
    told = {
        "newest": newest(checkpoints),
        "unreadable": {
            path.rpartition("/")[2]: why for path, why in checkpoints.unreadable.items()
        },
        "problems": [*checkpoints.problems.values()],
    }
    (place / where).chmod(before)
    for _ in range(LOOKS):
        checkpoints.look(time.time(), lambda: False)
    return told | {"after": newest(checkpoints)}


def newest(checkpoints: Checkpoints) -> dict[str, int | None]:
    return {
        path.rpartition("/")[2]: each.newest.number if each.newest else None
        for path, each in checkpoints.known.items()
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
