"""Answers that are sent while they are made."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

from granian._granian import RSGIProtocolClosed

from warren.serve.answers import Stream

GZIP = 31  # zlib's number for it


async def send(stream: Stream, protocol: Any, accept_encoding: str) -> None:
    headers, chunks = stream.headers, _each(stream.chunks)
    if "gzip" in accept_encoding and isinstance(stream.chunks, Iterator):
        headers = [*headers, ("content-encoding", "gzip")]
        chunks = _packed(chunks)
    transport = protocol.response_stream(stream.status, headers)
    try:
        async for chunk in chunks:
            if chunk:
                await transport.send_bytes(chunk)
    except RSGIProtocolClosed:
        return  # the client left


async def _each(chunks: Iterator[bytes] | AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if isinstance(chunks, Iterator):
        for chunk in chunks:
            yield chunk
            await asyncio.sleep(0)  # others are to be answered too
    else:
        async for chunk in chunks:
            yield chunk


async def _packed(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Zlib lets go of the interpreter: the others are answered meanwhile."""
    loop = asyncio.get_running_loop()
    gzip = zlib.compressobj(1, wbits=GZIP)
    async for chunk in chunks:
        yield await loop.run_in_executor(None, gzip.compress, chunk)
    yield gzip.flush()
