"""What is kept of one group's past. The pipeline's process knows it; workers do not."""

import time

import msgspec

from warren.history import period
from warren.serve.answers import Answer
from warren.serve.site import Site
from warren.serve.v4 import past_shapes, shapes
from warren.serve.v4.lines import moment
from warren.serve.v4.problems import problem
from warren.serve.v4.queries import OneHistory


class GroupHistory(past_shapes.History, kw_only=True):
    """A history, and the board it was asked for on."""

    board: shapes.Moment


async def history(site: Site, query: OneHistory) -> Answer | str:
    if not site.settings.keeps_history:
        return "history is not kept; a section [history] in the configuration turns it on"
    if query.cluster not in site.settings.clusters:
        return "there is no such cluster"
    try:
        asked = period.between(query.since, query.until, int(time.time() * 1000))
    except ValueError as error:
        return problem(site, 400, str(error))
    arguments = (query.cluster, query.group, *map(str, asked), str(query.partitions))
    # Two calls: what memory holds must not wait behind those that read the table.
    found = await site.call("recent_history", *arguments)
    found = found or await site.call("group_history", *arguments)
    told = msgspec.json.decode(found or "", type=shapes.Told)
    board = msgspec.json.encode(moment(site.view))
    # What is told is an object; it may be large, so it is not taken apart.
    return site.raw(told.code, msgspec.Raw(b'{"board":' + board + b"," + bytes(told.answer)[1:]))
