"""Where a server of a test listens: a free port, and HTTP on one."""

import contextlib
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from warren.demo.broker import free_ports

PAUSE_S = 0.05
STOP_S = 20.0


def free_port() -> int:
    (port,) = free_ports(1)
    return port


@contextlib.contextmanager
def listening(handler: type[BaseHTTPRequestHandler], server_pem: Path | None) -> Iterator[str]:
    """The address of a server with a thread for each connection; with a key and chain, of TLS."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if server_pem:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(server_pem)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(PAUSE_S,), daemon=True)
    thread.start()
    try:
        yield f"{'https' if server_pem else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(STOP_S)
