"""Every commit of every partition of a group, in columns: what charts are drawn from."""

from warren.serve.site import Site
from warren.serve.v4 import shapes
from warren.serve.v4.groups import find
from warren.serve.v4.lines import MS, moment
from warren.serve.v4.queries import OneGroup
from warren.serve.view import Cluster


def windows(site: Site, query: OneGroup) -> shapes.Windows | str:
    found = find(site.view, query.cluster, query.group)
    if isinstance(found, str):
        return found
    cluster, number = found
    return shapes.Windows(
        moment(site.view),
        query.cluster,
        query.group,
        cluster.facts.now_s * MS,
        _windows(cluster, cluster.lines(number)),
    )


def _windows(cluster: Cluster, lines: slice) -> list[shapes.Window]:
    arrays, intervals = cluster.arrays, cluster.facts.intervals
    stored = cluster.windows_of(lines)
    columns = [stored[name].tolist() for name in ("committed_ms", "offset", "lag")]
    topics = [cluster.topics.names[at] for at in arrays["topic"][lines].tolist()]
    told = []
    for at, (topic, partition, filled) in enumerate(
        zip(
            topics,
            arrays["partition"][lines].tolist(),
            arrays["filled"][lines].tolist(),
            strict=True,
        )
    ):
        committed_ms, offset, lag = (column[at][intervals - filled :] for column in columns)
        known = [each if each >= 0 else None for each in lag]
        told.append(shapes.Window(topic, partition, committed_ms, offset, known))
    return told
