"""`/metrics`, made once for all scrapes at about the same time.

It is made in chunks: a million lines must not keep other requests waiting.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from itertools import chain

from warren.serve.board_file.board_view import View
from warren.serve.http.answers import Answer, Request, accepts_gzip, compress, join
from warren.serve.http.site import Site
from warren.serve.metrics.exposition import Exposition, choose_exposition, label
from warren.serve.metrics.families import Family, Scraped, samples
from warren.serve.metrics.group_metrics import burrow_metrics, in_chunks
from warren.serve.metrics.number_families import NUMBERS
from warren.serve.metrics.other_names import OTHER_NAMES
from warren.serve.metrics.own_metrics import own_metrics
from warren.serve.metrics.series import Plan, Rest, plan, rest

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
    families = further_families(site.settings.also)
    further = rest(view, chosen, families, site.settings.max_series)
    texts = chain(
        burrow_metrics(view, chosen, exposition),
        further_metrics(view, chosen, further, families, exposition),
        own_metrics(view, chosen.cut + further.cut, time.time(), exposition),
        [exposition.end],
    )
    body = await join(in_chunks(texts))
    return await compress(body) if is_gzip else body


def further_families(also: Sequence[str]) -> list[Family]:
    """The numbers, and the names of other exporters that the configuration asks for."""
    return [*NUMBERS, *chain.from_iterable(OTHER_NAMES[name] for name in also)]


def further_metrics(
    view: View, base: Plan, further: Rest, families: Sequence[Family], exposition: Exposition
) -> Iterator[str]:
    scraped = [
        Scraped(
            label(name),
            view.clusters[name],
            further.whole[name],
            further.below[name],
            base.levels[name],
            further.with_ends,
        )
        for name in sorted(view.clusters)
    ]
    for family in families:
        started = False
        for text in chain.from_iterable(samples(family, each) for each in scraped):
            if not started:
                yield exposition.head(family.name, "gauge", family.about)
                started = True
            yield text
