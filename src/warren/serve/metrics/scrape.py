"""`/metrics`, made once for all scrapes at about the same time.

It is made in chunks: a million lines must not keep other requests waiting.
"""

import asyncio
import time
from itertools import chain

from warren.serve.http.answers import Answer, Request, accepts_gzip, compress, join
from warren.serve.http.site import Site
from warren.serve.metrics.exposition import Exposition, choose_exposition
from warren.serve.metrics.group_metrics import burrow_metrics, in_chunks
from warren.serve.metrics.own_metrics import own_metrics
from warren.serve.metrics.series import plan

SHARED_S = 1.0  # short: the age of the board must grow even when no new board comes


async def scrape(site: Site, request: Request) -> Answer:
    exposition, is_gzip = choose_exposition(request.accept), accepts_gzip(request.accept_encoding)
    making = site.shared(
        ("metrics", exposition, is_gzip),
        SHARED_S,
        lambda: _render(site, exposition, is_gzip=is_gzip),
    )
    # Other scrapes may wait for it too: it goes on if this client disconnects.
    body = await asyncio.shield(making)
    headers = [("content-type", exposition.content_type)]
    return Answer(200, [*headers, ("content-encoding", "gzip")] if is_gzip else headers, body)


async def _render(site: Site, exposition: Exposition, *, is_gzip: bool) -> bytes:
    view = site.view
    chosen = plan(view, site.settings.max_series)
    texts = chain(
        burrow_metrics(view, chosen, exposition),
        own_metrics(view, chosen.cut, time.time(), exposition),
        [exposition.end],
    )
    body = await join(in_chunks(texts))
    return await compress(body) if is_gzip else body
