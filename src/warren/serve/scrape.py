"""`/metrics`, sent while it is made: a million lines must not keep other requests waiting."""

import asyncio
import time
import zlib
from collections.abc import Iterator
from itertools import chain
from typing import Any

from granian._granian import RSGIProtocolClosed

from warren.serve.exposition import asked_for
from warren.serve.levels import plan
from warren.serve.metrics import burrow_metrics, in_chunks
from warren.serve.own_metrics import own_metrics
from warren.serve.site import Site

GZIP = 31  # zlib's number for it


async def scrape(site: Site, scope: Any, protocol: Any) -> None:
    exposition = asked_for(scope.headers.get("accept") or "")
    chosen = plan(site.view, site.settings.max_series)
    texts = in_chunks(
        chain(
            burrow_metrics(site.view, chosen, exposition),
            own_metrics(site.view, chosen.cut, time.time(), exposition),
            [exposition.end],
        )
    )
    headers = [("content-type", exposition.content_type)]
    if "gzip" in (scope.headers.get("accept-encoding") or ""):
        headers.append(("content-encoding", "gzip"))
        await _send(protocol, headers, texts, zlib.compressobj(1, wbits=GZIP))
    else:
        await _send(protocol, headers, texts, None)


async def _send(
    protocol: Any, headers: list[tuple[str, str]], texts: Iterator[bytes], gzip: Any
) -> None:
    loop = asyncio.get_running_loop()
    stream = protocol.response_stream(200, headers)
    try:
        for text in texts:
            # zlib lets go of the interpreter: the others answer meanwhile.
            data = await loop.run_in_executor(None, gzip.compress, text) if gzip else text
            if data:
                await stream.send_bytes(data)
        if gzip:
            await stream.send_bytes(gzip.flush())
    except RSGIProtocolClosed:
        return  # the client left
