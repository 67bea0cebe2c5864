"""`/metrics`, made once for all who ask at about the same time.

It is made piece by piece: a million lines must not keep other requests waiting.
"""

import asyncio
import time
from itertools import chain

from warren.serve.http.answers import Answer, Request, accepts_gzip, compress, join
from warren.serve.http.site import Site
from warren.serve.metrics.exposition import Exposition, asked_for
from warren.serve.metrics.group_metrics import burrow_metrics, in_chunks
from warren.serve.metrics.own_metrics import own_metrics
from warren.serve.metrics.series import plan

SHARED_S = 1.0  # the age of the board is told: it must not stand still when boards do


async def scrape(site: Site, request: Request) -> Answer:
    exposition, is_packed = asked_for(request.accept), accepts_gzip(request.accept_encoding)
    making = site.shared(
        ("metrics", exposition, is_packed),
        SHARED_S,
        lambda: _rendered(site, exposition, is_packed=is_packed),
    )
    # Others wait for it too: it goes on when this client leaves.
    body = await asyncio.shield(making)
    headers = [("content-type", exposition.content_type)]
    return Answer(200, [*headers, ("content-encoding", "gzip")] if is_packed else headers, body)


async def _rendered(site: Site, exposition: Exposition, *, is_packed: bool) -> bytes:
    view = site.view
    chosen = plan(view, site.settings.max_series)
    texts = chain(
        burrow_metrics(view, chosen, exposition),
        own_metrics(view, chosen.cut, time.time(), exposition),
        [exposition.end],
    )
    body = await join(in_chunks(texts))
    return await compress(body) if is_packed else body
