"""The API of Burrow 0.x, read-only: some tools around Burrow still use it.

It differs from /v3: `request` repeats the names from the path, an unknown group is an error,
`complete` is a boolean, and a partition without a commit is left out.
"""

from typing import NamedTuple

import msgspec

from warren.serve import v3
from warren.serve.board_file.board_view import ClusterView
from warren.serve.http.answers import Answer, Request
from warren.serve.http.site import Site


class V2Names(NamedTuple):
    cluster: str = ""
    group: str = ""
    topic: str = ""


class V2Commit(msgspec.Struct):
    offset: int
    timestamp: int
    lag: int
    max_offset: (
        int  # 0.x dropped commits that came too soon after another, and kept their offset here
    )


class V2Partition(msgspec.Struct):
    topic: str
    partition: int
    status: str
    start: V2Commit
    end: V2Commit


class V2GroupStatus(msgspec.Struct):
    cluster: str
    group: str
    status: str
    complete: bool
    partitions: list[V2Partition]
    partition_count: int
    maxlag: V2Partition | None
    totallag: int


def clusters(site: Site, request: Request) -> Answer:
    names = sorted(site.settings.clusters)
    return _answer(site, request, "cluster list returned", V2Names(), clusters=names)


def cluster(site: Site, request: Request, name: str) -> Answer:
    settings = site.settings.modules["cluster"].get(name)
    if settings is None:
        return _problem(site, request, "cluster not found", V2Names(name))
    servers = [str(server).rpartition(":") for server in _listed(settings["servers"])]
    consumers = [
        each for each in site.settings.modules["consumer"].values() if each["cluster"] == name
    ]
    detail = {
        "zookeepers": [],
        "zookeeper_port": 0,
        "zookeeper_path": "/",
        "brokers": [host for host, _, _ in servers],
        "broker_port": int(servers[0][2]) if servers else 0,
        "offsets_topic": consumers[0]["offsets-topic"] if consumers else "",
    }
    return _answer(site, request, "cluster detail returned", V2Names(name), cluster=detail)


def topics(site: Site, request: Request, name: str) -> Answer:
    if name not in site.settings.clusters:
        return _problem(site, request, "cluster not found", V2Names(name))
    cluster = site.view.clusters.get(name)
    found = cluster.topics_with_ends.names if cluster else []
    return _answer(site, request, "broker topic list returned", V2Names(name), topics=found)


def topic(site: Site, request: Request, name: str, topic: str) -> Answer:
    cluster = site.view.clusters.get(name)
    ends = cluster.ends(topic) if cluster else None
    if ends is None:
        return _problem(site, request, "topic not found", V2Names(name, topic=topic))
    message = "broker topic offsets returned"
    return _answer(site, request, message, V2Names(name, topic=topic), offsets=_numbers(ends))


def groups(site: Site, request: Request, name: str) -> Answer:
    if name not in site.settings.clusters:
        return _problem(site, request, "cluster not found", V2Names(name))
    cluster = site.view.clusters.get(name)
    found = cluster.groups.names if cluster else []
    return _answer(site, request, "consumer list returned", V2Names(name), consumers=found)


def group_topics(site: Site, request: Request, name: str, group: str) -> Answer:
    offsets, names = _offsets(site.view.clusters.get(name), group), V2Names(name, group)
    if offsets is None:
        return _problem(site, request, "consumer group not found", names)
    return _answer(site, request, "consumer topic list returned", names, topics=sorted(offsets))


def group_topic(site: Site, request: Request, name: str, group: str, topic: str) -> Answer:
    offsets, names = _offsets(site.view.clusters.get(name), group), V2Names(name, group, topic)
    if offsets is None:
        return _problem(site, request, "consumer group not found", names)
    if topic not in offsets:
        return _problem(site, request, "topic not found for consumer group", names)
    message = "consumer group topic offsets returned"
    return _answer(site, request, message, names, offsets=offsets[topic])


def status(site: Site, request: Request, name: str, group: str) -> Answer:
    return _status(site, request, name, group, only_bad=True)


def lag(site: Site, request: Request, name: str, group: str) -> Answer:
    return _status(site, request, name, group, only_bad=False)


def _status(site: Site, request: Request, name: str, group: str, *, only_bad: bool) -> Answer:
    known = v3.group_status(site.view.clusters.get(name), name, group, only_bad=only_bad)
    if known.status == "NOTFOUND":
        return _problem(site, request, "consumer group not found", V2Names(name, group))
    found = V2GroupStatus(
        name,
        group,
        known.status,
        bytes(known.complete) == b"1",
        [found for each in known.partitions if (found := _partition(each))],
        known.partition_count,
        _partition(known.maxlag) if known.maxlag else None,
        known.totallag,
    )
    message = "consumer group status returned"
    return _answer(site, request, message, V2Names(name, group), status=found)


def _partition(partition: v3.V3Partition) -> V2Partition | None:
    if partition.start is None or partition.end is None:
        return None
    start, end = (
        # Here a commit that comes too soon replaces the one before: no offset is newer.
        V2Commit(commit.offset, commit.timestamp, commit.lag or 0, commit.offset)
        for commit in (partition.start, partition.end)
    )
    return V2Partition(partition.topic, partition.partition, partition.status, start, end)


def _offsets(cluster: ClusterView | None, group: str) -> dict[str, list[int]] | None:
    """The newest commit of each partition, by topic; -1 where there is none."""
    number = cluster.groups.numbers.get(group) if cluster else None
    if cluster is None or number is None:
        return None
    lines = cluster.lines(number)
    columns = (cluster.arrays[name][lines].tolist() for name in ("topic", "filled", "end_offset"))
    found: dict[str, list[int]] = {}
    for topic, filled, offset in zip(*columns, strict=True):
        found.setdefault(cluster.topics.names[topic], []).append(offset if filled else -1)
    return found


def _numbers(ends: list[int | None]) -> list[int]:
    return [-1 if end is None else end for end in ends]


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _answer(site: Site, request: Request, message: str, names: V2Names, **data: object) -> Answer:
    place = _place(site, request, names)
    return site.raw(200, {"error": False, "message": message, **data, "request": place})


def _problem(site: Site, request: Request, message: str, names: V2Names) -> Answer:
    place = _place(site, request, names)
    return site.raw(404, {"error": True, "message": message, "request": place})


def _place(site: Site, request: Request, names: V2Names) -> dict[str, str]:
    return {"url": request.path, "host": site.settings.host, **names._asdict()}
