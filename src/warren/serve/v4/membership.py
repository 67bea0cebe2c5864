"""What the records about a group say beside its verdict."""

from collections.abc import Iterator
from itertools import pairwise

import msgspec
import numpy as np

from warren.model.arrays import Ints
from warren.model.group_life import Kind, Subscribed
from warren.serve.board_file.board_view import ClusterView
from warren.serve.v4 import shapes

IS_SUBSCRIBED = {Subscribed.YES: True, Subscribed.NO: False, Subscribed.UNKNOWN: None}
MOMENTS = ("empty_since_s", "rebalanced_s")
KINDS: dict[Kind, shapes.GroupKind] = {
    Kind.NO_RECORDS: "none",
    Kind.CLASSIC: "classic",
    Kind.CONSUMER: "consumer",
    Kind.SHARE: "share",
    Kind.STREAMS: "streams",
}


def life_of(cluster: ClusterView, number: int) -> shapes.Life | None:
    """None: the board does not say, as one that was read from history."""
    arrays = cluster.arrays
    if "life_kind" not in arrays:
        return None
    lines = cluster.lines(number)
    topics = arrays["topic"][lines]
    firsts = np.flatnonzero(np.diff(topics, prepend=-1)).tolist()
    bounds = [*firsts, len(topics)]
    owners = arrays["life_last_owner"][lines].tolist()
    subscribed = arrays["life_is_subscribed"][lines].tolist()
    (brief,) = brief_lives(cluster, np.array([number]))
    return shapes.Life(
        **msgspec.structs.asdict(brief),
        topics=[
            shapes.TopicLife(
                cluster.topics.names[int(topics[begin])],
                IS_SUBSCRIBED[Subscribed(subscribed[begin])],
                [cluster.owners.names[owner] for owner in owners[begin:end]],
            )
            for begin, end in pairwise(bounds)
        ],
    )


def brief_lives(cluster: ClusterView, numbers: Ints) -> Iterator[shapes.BriefLife]:
    """Of groups, of a board that says it."""
    names = ("kind", "member_count", "static_count", "generations_per_minute", "churn_per_minute")
    columns = [cluster.arrays[f"life_{name}"][numbers].tolist() for name in (*names, *MOMENTS)]
    for kind, members, static, generations, churn, empty_s, began_s in zip(*columns, strict=True):
        rates = round(generations, 3), round(churn, 3)
        yield shapes.BriefLife(KINDS[kind], members, static, *rates, _ms(empty_s), _ms(began_s))


def _ms(moment_s: float) -> int | None:
    return int(moment_s * 1000) or None
