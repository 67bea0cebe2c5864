"""What the records about a group say beside its verdict, and the groups that have no verdict."""

from itertools import pairwise

import numpy as np

from warren.model.group_life import Kind, Subscribed
from warren.serve.board_file.board_view import ClusterView
from warren.serve.http.site import Site
from warren.serve.v4 import shapes
from warren.serve.v4.lines import moment
from warren.serve.v4.parameters import OneCluster

IS_SUBSCRIBED = {Subscribed.YES: True, Subscribed.NO: False, Subscribed.UNKNOWN: None}
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
    return shapes.Life(
        KINDS[Kind(arrays["life_kind"][number])],
        int(arrays["life_member_count"][number]),
        int(arrays["life_static_count"][number]),
        round(float(arrays["life_generations_per_minute"][number]), 3),
        round(float(arrays["life_churn_per_minute"][number]), 3),
        _ms(arrays["life_empty_since_s"][number]),
        _ms(arrays["life_rebalanced_s"][number]),
        [
            shapes.TopicLife(
                cluster.topics.names[int(topics[begin])],
                IS_SUBSCRIBED[Subscribed(subscribed[begin])],
                [cluster.owners.names[owner] for owner in owners[begin:end]],
            )
            for begin, end in pairwise(bounds)
        ],
    )


def others(site: Site, query: OneCluster) -> shapes.OtherGroups | str:
    cluster = site.view.clusters.get(query.cluster)
    if cluster is None:
        return "there is no such cluster"
    return shapes.OtherGroups(
        moment(site.view),
        [
            shapes.OtherLine(
                name,
                each.kind,
                each.members,
                each.static_members,
                each.generation,
                None if each.empty_since_s is None else int(each.empty_since_s * 1000),
                [*each.topics],
            )
            for name, each in cluster.facts.others.items()
        ],
    )


def _ms(moment_s: float) -> int | None:
    return int(moment_s * 1000) or None
