"""Status changes as they happen: server-sent events."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import NamedTuple

import msgspec
import numpy as np

from warren.model.arrays import Bytes
from warren.model.status import Status
from warren.serve.board_file.board_view import NumberedNames, View
from warren.serve.http.answers import Answer, Endless, Request
from warren.serve.http.site import Site
from warren.serve.v4.lines import moment
from warren.serve.v4.parameters import Listening, parse, problem

KEEP_ALIVE_S = 5.0  # a client that has disconnected is noticed with the next chunk


class Change(msgspec.Struct):
    """`before` is null for a new group, `after` for one that is gone."""

    cluster: str
    group: str
    before: str | None
    after: str | None
    moment_ms: int


class Statuses(NamedTuple):
    """What a listener remembers of a board. It keeps a copy, so that the board can be freed."""

    board: int
    by_cluster: dict[str, tuple[NumberedNames, Bytes]]


def events(site: Site, request: Request) -> Endless | Answer:
    query = parse(request.query, Listening)
    if not isinstance(query, Listening):
        return problem(site, 400, query if isinstance(query, str) else "")
    headers = [("content-type", "text/event-stream"), ("cache-control", "no-store"), *site.cors]
    return Endless(200, headers, follow(site, every_board=query.boards))


async def follow(
    site: Site, *, every_board: bool, keep_alive_s: float = KEEP_ALIVE_S
) -> AsyncGenerator[bytes]:
    loop = asyncio.get_running_loop()
    seen = _statuses(site)
    yield _board(site.view)
    sent_at = loop.time()
    while True:
        silence_s = loop.time() - sent_at
        if not await _another_board(site, seen.board, keep_alive_s - silence_s):
            text = b": still here\n\n"
        else:
            text = _changes_since(site, seen)
            seen = _statuses(site)
            if every_board or text:
                text += _board(site.view)
        if text:
            yield text
            sent_at = loop.time()


async def _another_board(site: Site, seen: int, seconds: float) -> bool:
    try:
        await asyncio.wait_for(site.wait_for_board_after(seen), max(seconds, 0))
    except TimeoutError:
        return False
    return True


def _changes_since(site: Site, seen: Statuses) -> bytes:
    """The events since that board, made once for all listeners that saw it last."""

    def make(view: View) -> bytes:
        changes = status_changes(seen, _statuses(site), view.facts.moment_ms)
        return b"".join(_event("status", each.moment_ms, each) for each in changes)

    return site.once(f"changes since board {seen.board}", make)


def _board(view: View) -> bytes:
    """Marks the board to which the events before it belong."""
    return _event("board", view.facts.moment_ms, moment(view))


def _event(kind: str, number: int, data: object) -> bytes:
    body = msgspec.json.encode(data)
    return f"event: {kind}\nid: {number}\ndata: ".encode() + body + b"\n\n"


def _statuses(site: Site) -> Statuses:
    clusters = site.view.clusters.items()
    return Statuses(
        site.boards,
        {name: (each.groups, each.arrays["group_status"].copy()) for name, each in clusters},
    )


def status_changes(before: Statuses, after: Statuses, moment_ms: int) -> Iterator[Change]:
    nothing = (NumberedNames(b"[]"), np.zeros(0, np.uint8))
    for name in sorted(before.by_cluster.keys() | after.by_cluster.keys()):
        old, new = (each.by_cluster.get(name, nothing) for each in (before, after))
        for group, was, is_ in _differences(*old, *new):
            yield Change(name, group, _name(was), _name(is_), moment_ms)


def _differences(
    old: NumberedNames, was: Bytes, new: NumberedNames, is_: Bytes
) -> Iterator[tuple[str, int | None, int | None]]:
    if old is new:  # the usual case: the same groups
        for number in np.flatnonzero(was != is_).tolist():
            yield new.names[number], int(was[number]), int(is_[number])
        return
    had = dict(zip(old.names, was.tolist(), strict=True))
    has = dict(zip(new.names, is_.tolist(), strict=True))
    for group in sorted(had.keys() | has.keys()):
        if had.get(group) != has.get(group):
            yield group, had.get(group), has.get(group)


def _name(status: int | None) -> str | None:
    return None if status is None else Status(status).name
