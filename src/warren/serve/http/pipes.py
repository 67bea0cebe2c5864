"""Answers that are sent as fast as the client reads them, and no faster.

granian queues bytes without a limit. A file it reads chunk by chunk, each when the client has taken
the one before. So granian gets the path of a pipe, which holds 64 KiB.
"""

import asyncio
import contextlib
import fcntl
import os
import sys
import termios
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any

from warren.serve.http.answers import Answer, Endless


async def send_large(answer: Answer, protocol: Any, seconds: float) -> None:
    """Send with a content-length, so that a client that is cut off notices."""
    until = asyncio.get_running_loop().time() + seconds
    headers = [*answer.headers, ("content-length", str(len(answer.body)))]
    with _pipe() as pipe:
        protocol.response_file(answer.status, headers, pipe.path)
        await pipe.write(answer.body, until)


async def send_endless(answer: Endless, protocol: Any, seconds: float) -> None:
    """Send until the client disconnects or needs more than `seconds` to read a chunk."""
    loop = asyncio.get_running_loop()
    with _pipe() as pipe:
        async with contextlib.aclosing(answer.chunks) as chunks:
            protocol.response_file(answer.status, answer.headers, pipe.path)
            async for chunk in pipe.chunks_while_open(chunks):
                if not await pipe.write(chunk, loop.time() + seconds):
                    return


@contextlib.contextmanager
def _pipe() -> "Iterator[_Pipe]":
    pipe = _Pipe()
    try:
        yield pipe
    finally:
        pipe.close()


class _Pipe:
    """The reading end stays open here until granian has opened it, so that its path is valid.

    granian closes its own when the connection has ended and no read is under way: after the next
    chunk is written.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        out, self._in = os.pipe()
        os.set_blocking(self._in, False)
        self._out: int | None = out
        self._written = 0
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(
            self._in, _settle, self._ended
        )  # readable means that the reader has closed
        self.path = f"/dev/fd/{out}"

    def close(self) -> None:
        self._loop.remove_reader(self._in)
        os.close(self._in)
        if self._out is not None:
            os.close(self._out)

    async def write(self, data: bytes, until: float) -> bool:
        """Write all of it; False if the time is over or the client has disconnected."""
        rest = memoryview(data)
        while rest:
            self._close_reading_end()
            try:
                count = os.write(self._in, rest)
            except BlockingIOError:
                if not await self._has_room(until):
                    return False
            except BrokenPipeError:
                return False
            else:
                self._written += count
                rest = rest[count:]
        return True

    def _close_reading_end(self) -> None:
        """Close our reading end once something was read: then granian has opened its own."""
        if self._out is not None and _unread_bytes(self._out) < self._written:
            os.close(self._out)
            self._out = None

    async def _has_room(self, until: float) -> bool:
        room: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_writer(self._in, _settle, room)
        try:
            await self._wait(room, max(until - self._loop.time(), 0))
        finally:
            self._loop.remove_writer(self._in)
        return room.done()

    async def chunks_while_open(self, chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
        while not self._ended.done():
            coming = asyncio.ensure_future(anext(chunks))
            await self._wait(coming, None)
            if coming.done():
                self._close_reading_end()
                yield coming.result()
            else:
                coming.cancel()
                await asyncio.wait({coming})

    async def _wait(self, awaited: "asyncio.Future[Any]", seconds: float | None) -> None:
        """Wait for `awaited`, for the reader to close, or for the time to pass."""
        either = {awaited, self._ended}
        await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)


def _unread_bytes(pipe: int) -> int:
    """Bytes that were written and not read yet."""
    count = fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))
    return int.from_bytes(count, sys.byteorder)


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
