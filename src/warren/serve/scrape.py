"""`/metrics`, sent while it is made: a million lines must not keep other requests waiting."""

import time
from itertools import chain

from warren.serve.answers import Request, Stream
from warren.serve.exposition import asked_for
from warren.serve.levels import plan
from warren.serve.metrics import burrow_metrics, in_chunks
from warren.serve.own_metrics import own_metrics
from warren.serve.site import Site


def scrape(site: Site, request: Request) -> Stream:
    exposition = asked_for(request.accept)
    chosen = plan(site.view, site.settings.max_series)
    chunks = in_chunks(
        chain(
            burrow_metrics(site.view, chosen, exposition),
            own_metrics(site.view, chosen.cut, time.time(), exposition),
            [exposition.end],
        )
    )
    return Stream(200, [("content-type", exposition.content_type)], chunks)
