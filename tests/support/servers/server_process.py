"""What every server of the tests needs: to be waited for, to be ended, to be listened with."""

import contextlib
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx

PAUSE_S = 0.05
STOP_S = 20.0


def wait_for_answer(process: subprocess.Popen[bytes], url: str, log: Path, seconds: float) -> None:
    """Wait until it says yes; a server that ends before, or does not get that far, has a reason."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(url, timeout=5).is_success:
                return
        time.sleep(PAUSE_S)
    told = log.read_text(errors="replace")[-2000:]
    raise AssertionError(f"{url} does not answer within {seconds:.0f} s: {told}")


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end, and see to it that it does."""
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


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
