"""Status changes as they happen: server-sent events."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import msgspec
import numpy as np

from warren.model import Status
from warren.serve.answers import Answer, Request, Stream
from warren.serve.site import Site
from warren.serve.v4.lines import moment
from warren.serve.v4.queries import Listening, parsed
from warren.serve.view import Cluster, View

KEEP_ALIVE_S = 15.0
MOST_LISTENERS = 100  # of one worker


class Change(msgspec.Struct):
    """Null before: the group has appeared; null after: it is gone."""

    cluster: str
    group: str
    before: str | None
    after: str | None
    moment_ms: int


def events(site: Site, request: Request) -> Stream | Answer:
    if site.listeners >= MOST_LISTENERS:
        return site.problem(request, 429, "too many listen already")
    query = parsed(request.query, Listening)
    if not isinstance(query, Listening):
        return site.problem(request, 400, query if isinstance(query, str) else "")
    headers = [("content-type", "text/event-stream"), ("cache-control", "no-store"), *site.cors]
    return Stream(200, headers, _follow(site, every_board=query.boards))


async def _follow(site: Site, *, every_board: bool) -> AsyncIterator[bytes]:
    site.listeners += 1
    try:
        seen = site.view
        yield _board(seen)
        while True:
            try:
                async with asyncio.timeout(KEEP_ALIVE_S):
                    await site.after(seen)
            except TimeoutError:
                yield b": still here\n\n"
                continue
            changes, seen = list(changed(seen, site.view)), site.view
            if changes or every_board:
                told = b"".join(_event("status", each.moment_ms, each) for each in changes)
                yield told + _board(seen)
    finally:
        site.listeners -= 1


def _board(view: View) -> bytes:
    """The board that what was told before it is of."""
    return _event("board", view.facts.moment_ms, moment(view))


def _event(kind: str, number: int, data: object) -> bytes:
    body = msgspec.json.encode(data)
    return f"event: {kind}\nid: {number}\ndata: ".encode() + body + b"\n\n"


def changed(before: View, after: View) -> Iterator[Change]:
    for name in sorted(before.clusters.keys() | after.clusters.keys()):
        old, new = before.clusters.get(name), after.clusters.get(name)
        for group, was, is_ in _differences(old, new):
            yield Change(name, group, _name(was), _name(is_), after.facts.moment_ms)


def _differences(
    old: Cluster | None, new: Cluster | None
) -> Iterator[tuple[str, int | None, int | None]]:
    if old and new and old.groups is new.groups:  # the usual case: the same groups
        was, is_ = old.arrays["group_status"], new.arrays["group_status"]
        for number in np.flatnonzero(was != is_).tolist():
            yield new.groups.names[number], int(was[number]), int(is_[number])
        return
    had, has = _statuses(old), _statuses(new)
    for group in sorted(had.keys() | has.keys()):
        if had.get(group) != has.get(group):
            yield group, had.get(group), has.get(group)


def _statuses(cluster: Cluster | None) -> dict[str, int]:
    if cluster is None:
        return {}
    statuses = cluster.arrays["group_status"].tolist()
    return dict(zip(cluster.groups.names, statuses, strict=True))


def _name(status: int | None) -> str | None:
    return None if status is None else Status(status).name
