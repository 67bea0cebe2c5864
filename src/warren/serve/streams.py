"""Answers that are made piece by piece."""

import asyncio
import zlib
from collections.abc import Iterator

from warren.serve.accepted import accepts_gzip
from warren.serve.answers import Answer, Stream

GZIP = 31  # zlib's number for it


async def whole(stream: Stream, accept_encoding: str) -> Answer:
    """All pieces as one answer, packed if the client takes that."""
    body = await joined(stream.chunks)
    if not accepts_gzip(accept_encoding):
        return Answer(stream.status, stream.headers, body)
    headers = [*stream.headers, ("content-encoding", "gzip")]
    return Answer(stream.status, headers, await packed(body))


async def joined(chunks: Iterator[bytes]) -> bytes:
    some = []
    for chunk in chunks:
        some.append(chunk)
        await asyncio.sleep(0)  # others are to be answered too
    return b"".join(some)


async def packed(body: bytes) -> bytes:
    """Zlib lets go of the interpreter: the others are answered meanwhile."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, lambda: zlib.compress(body, 1, GZIP))
