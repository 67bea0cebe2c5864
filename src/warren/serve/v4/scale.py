"""What an autoscaler asks for: how much another member could help with.

A wrong number does harm: 0 takes the last member away, and a lag that is large only because commits
have not been read yet starts members for nothing. So there is a number only when it is right;
autoscalers keep what they have while they get an error.
"""

from warren.model.health import Health
from warren.model.numbers import UNKNOWN
from warren.serve.board_file.board_view import ClusterView
from warren.serve.http.answers import Answer, Request
from warren.serve.http.site import Site
from warren.serve.v4 import shapes
from warren.serve.v4.groups import find
from warren.serve.v4.lines import group_line, moment
from warren.serve.v4.parameters import OneGroup, problem


def scale(site: Site, query: OneGroup) -> shapes.Scale | Answer | str:
    found = find(site.view, query.cluster, query.group)
    if isinstance(found, str):
        return found
    cluster, number = found
    value = int(cluster.arrays["group_scalable_lag"][number])
    reason = _why_not(site.view.facts.health, query.cluster, value)
    if reason:
        return problem(site, 503, reason)
    return _answer(site, query, cluster, number, value)


def _answer(
    site: Site, query: OneGroup, cluster: ClusterView, number: int, value: int
) -> shapes.Scale:
    lines = cluster.lines(number)
    return shapes.Scale(
        moment(site.view),
        query.cluster,
        query.group,
        max(value, 0),
        group_line(query.cluster, cluster, number).lag,
        lines.stop - lines.start,
    )


def _why_not(health: Health, name: str, value: int) -> str:
    cluster = health.clusters.get(name)
    if cluster and cluster.problem:
        return f"the brokers cannot be read: {cluster.problem}"
    if cluster and cluster.restored:
        return "the verdicts come from a snapshot; nothing has been read since"
    if any(each.state == "catching up" for each in health.consumers_of(name).values()):
        return "its commits are still being read"
    return "its lag is not known" if value == UNKNOWN else ""


def by_path(site: Site, _request: Request, cluster: str, group: str) -> Answer:
    """The same with names in the path, which is easier to write into an autoscaler's settings."""
    found = scale(site, OneGroup(cluster=cluster, group=group))
    if isinstance(found, Answer):
        return found
    return problem(site, 404, found) if isinstance(found, str) else site.raw(200, found)
