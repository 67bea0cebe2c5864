"""What has changed lately: the last changes of status, and since when a group has its own."""

from warren.serve.board_file.board_view import View
from warren.serve.http.site import Site
from warren.serve.v4 import shapes
from warren.serve.v4.lines import moment
from warren.serve.v4.parameters import SomeChanges


def changes(site: Site, query: SomeChanges) -> shapes.Changes | str:
    if query.cluster and query.cluster not in site.view.clusters:
        return "there is no such cluster"
    chosen = [
        each
        for each in reversed(site.view.facts.changes.statuses)
        if query.cluster in {"", each.cluster} and query.group in {"", each.group}
    ]
    watched_ms = _watched_ms(site.view)
    forgotten_ms = site.view.facts.changes.complete_since_ms
    since_ms = None if watched_ms is None else max(watched_ms, forgotten_ms)
    return shapes.Changes(moment(site.view), watched_ms, since_ms, chosen[: query.limit])


def since(view: View, cluster: str, number: int) -> shapes.Since | None:
    """Of one group; None: the board does not say, as one that was read from history."""
    found = view.clusters[cluster]
    if "group_since_ms" not in found.arrays:
        return None
    group = found.groups.names[number]
    rebalances = [
        each.moment_ms
        for each in view.facts.changes.rebalances
        if (each.cluster, each.group) == (cluster, group)
    ]
    status_ms = int(found.arrays["group_since_ms"][number])
    return shapes.Since(status_ms, int(found.arrays["watched_since_ms"][0]), rebalances)


def _watched_ms(view: View) -> int | None:
    if not view.facts.health.ready:
        return None
    known = [each.arrays.get("watched_since_ms") for each in view.clusters.values()]
    return min((int(each[0]) for each in known if each is not None), default=None)
