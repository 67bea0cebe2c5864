"""A process that answers requests. It ends when the pipeline's process ends, for any reason."""

import asyncio
import os
import signal
import socket
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import msgspec
import uvloop
from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces, SSLProtocols
from granian.http import HTTP1Settings
from granian.server.embed import Server

from warren.serve.board_file.board_view import View
from warren.serve.http import channel
from warren.serve.http.answers import Request
from warren.serve.http.channel import Action, Call, Failed, Offer, Result, Taken
from warren.serve.http.dispatch import App, Slots
from warren.serve.http.site import ActionFailed, Site
from warren.serve.http.startup import ServerSettings, Startup

MOST_LARGE = 8  # answers of more than a megabyte that are sent at once
BACKLOG = 1024  # as in `listeners`; granian asks for it


class Pipeline:
    """The other end of the channel: boards come from it, calls go to it."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._sending = threading.Lock()
        self._calls: dict[int, asyncio.Future[str | None]] = {}
        self._count = 0

    async def call(self, action: Action) -> str | None:
        self._count += 1
        number = self._count
        future: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._calls[number] = future
        try:
            self._send(Call(number, action))
            return await future
        finally:
            del self._calls[number]

    def report(self, request: Request, error: Exception) -> None:
        """Send a request that could not be answered to the pipeline, which logs it."""
        path = f"{request.path}?{request.query}" if request.query else request.path
        # The pipeline has logged the trace of its own failures already, but not the path.
        is_logged = isinstance(error, ActionFailed)
        trace = "" if is_logged else "".join(traceback.format_exception(error))
        self._send(Failed(request.method, path, str(error), trace))

    def follow(self, site: Site, loop: asyncio.AbstractEventLoop) -> None:
        """Receive boards and results; the process ends with the stream."""
        try:
            self._receive_all(site, loop)
        except OSError:
            os._exit(0)  # the pipeline ended while we replied
        except BaseException:  # noqa: BLE001  # a worker without new boards must not go on
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _receive_all(self, site: Site, loop: asyncio.AbstractEventLoop) -> None:
        view = View.empty()
        while (received := channel.receive(self._stream)) is not None:
            message, files = received
            if isinstance(message, Offer):
                before, view = view, View.open(files, view)
                shown = threading.Event()
                loop.call_soon_threadsafe(_show, site, view, shown)
                shown.wait()
                del before  # free hundreds of megabytes in this thread, not between two requests
                self._send(Taken(message.number))
            elif isinstance(message, Result):
                loop.call_soon_threadsafe(self._settle, message)
            for file in files:
                os.close(file)

    def _settle(self, result: Result) -> None:
        future = self._calls.get(result.number)
        if future is None or future.done():
            return  # the client has disconnected
        if result.problem is None:
            future.set_result(result.value)
        else:
            future.set_exception(ActionFailed(result.problem))

    def _send(self, message: channel.Message) -> None:
        with self._sending:
            channel.send(self._stream, message)


def _show(site: Site, view: View, shown: threading.Event) -> None:
    site.show(view)
    shown.set()


class _OnSocket(Server):
    """granian's embedded server on an open socket."""

    def __init__(self, fd: int, app: App, **options: Any) -> None:
        super().__init__(
            app, interface=Interfaces.RSGI, websockets=False, log_enabled=False, **options
        )
        self._fd = fd

    def _init_shared_socket(self) -> None:
        holder: Any = SocketHolder  # typed without its arguments
        self._shd = holder(self._fd, uds=False, backlog=BACKLOG)


def _server(settings: ServerSettings, app: App) -> Server:
    options: dict[str, Any] = {
        "http1_settings": HTTP1Settings(header_read_timeout=settings.timeout_s * 1000),
        "backpressure": settings.max_connections,
        # With HTTP/2 allowed, granian waits for the first byte without a time-out.
        "http": HTTPModes.http1,
    }
    if settings.certfile:
        options |= {
            "ssl_cert": Path(settings.certfile),
            "ssl_key": Path(settings.keyfile),
            "ssl_protocol_min": SSLProtocols.tls12,
        }
    if settings.client_cafile:
        options |= {"ssl_ca": Path(settings.client_cafile), "ssl_client_verify": True}
    return _OnSocket(settings.fd, app, **options)


async def _serve(stream: socket.socket, startup: Startup) -> None:
    pipeline = Pipeline(stream)
    site = Site(startup.settings, pipeline.call)
    loop = asyncio.get_running_loop()
    threading.Thread(target=pipeline.follow, args=(site, loop), daemon=True).start()
    # A worker that replaces another must not answer from an empty board first.
    await site.wait_for_board_after(0)
    large = Slots(MOST_LARGE)
    servers = [_server(each, App(site, each, large, pipeline.report)) for each in startup.servers]
    await asyncio.gather(*(server.serve() for server in servers))


def main() -> None:
    # Service managers and terminals signal every process; the pipeline decides when we end.
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    stream = socket.socket(fileno=int(sys.argv[1]))
    startup = msgspec.json.decode(sys.stdin.buffer.read(), type=Startup)
    uvloop.run(_serve(stream, startup))


if __name__ == "__main__":
    main()
