"""A topic that was deleted and created again under its name.

We notice only when the topics are listed the next time. By then commits on the new topic may have
been folded into the old one's windows.
"""

import numpy as np
import pyarrow as pa

from warren.model.kafka_names import to_bytes
from warren.model.window_arrays import WindowArrays, ranges
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows


def replace_topic(windows: Windows, topic: str, since_s: int, now_s: int) -> None:
    """Forget a topic, except the commits since it was last listed as the old one.

    Those are on the new topic, or a tombstone has removed them: Kafka writes one for every commit
    on a topic that it deletes.
    """
    kept = commits_since(window_arrays(windows), topic, since_s)
    windows.delete_topic(topic)
    windows.fold(kept, now_s)


def commits_since(view: WindowArrays, topic: str, since_s: int) -> pa.Table:
    """COMMITS on a topic that were read from this moment on."""
    is_of_topic = np.array([name == topic for name in view.topics], np.bool_)[view.pair_topic]
    count = view.pair_count[is_of_topic]
    rows = ranges(view.pair_row[is_of_topic], count)
    pair_group = np.searchsorted(view.group_pair, np.flatnonzero(is_of_topic), side="right") - 1
    intervals = view.offset.shape[1]
    is_held = np.arange(intervals) >= intervals - view.filled[rows].astype(np.int64)[:, None]
    line, column = np.nonzero(is_held & (view.observed_s[rows] >= since_s))
    groups = np.repeat(pair_group, count)[line].tolist()
    return pa.table(
        {
            "group": pa.array([to_bytes(view.groups[group]) for group in groups], pa.binary()),
            "topic": pa.array([to_bytes(topic)] * len(line), pa.binary()),
            "partition": ranges(np.zeros_like(count), count)[line],
            "offset": view.offset[rows[line], column],
            "committed_ms": view.committed_ms[rows[line], column],
            "order": view.order[rows[line], column],
        }
    )
