"""HTTP requests of a notifier, with kept connections and one time-out for each whole request."""

import asyncio
import ipaddress
import socket
import ssl
import sys
import weakref
from urllib.request import getproxies, proxy_bypass

import httpx

import warren
from warren.clients.tls import notifier_context, why
from warren.config import OverHttp
from warren.errors import SendFailed

MAX_REDIRECTS = 10  # as Go has it
REPLY_BYTES = 1000  # of a reply's body: enough to see what the receiver says
RETRIED = {408, 425, 429}  # the 4xx codes that are temporary


class Requests:
    """Used by one thread. Between requests the event loop does not run; connections stay open."""

    def __init__(self, settings: OverHttp) -> None:
        self._timeout = settings.timeout
        headers = {
            "User-Agent": f"warren/{warren.__version__}",
            "Content-Type": "application/json",
            **settings.headers,
        }
        routes = ProxyRoutes(settings)
        self._runner = asyncio.Runner()
        auth = (settings.username, settings.password.reveal()) if settings.username else None
        self._client = httpx.AsyncClient(
            transport=routes,
            auth=auth,
            headers=[(name.encode(), value.encode()) for name, value in headers.items()],
            timeout=None,  # noqa: S113  httpx has no time-out for a whole request; see below
            follow_redirects=True,
            max_redirects=MAX_REDIRECTS,
            trust_env=False,  # ProxyRoutes finds proxies; Burrow reads no more from there
        )
        self._end = weakref.finalize(self, _close, self._runner, self._client)
        self._end.atexit = False  # a thread may be in the middle of a request

    def send(self, method: str, url: str, body: bytes) -> str:
        """Return the reply in one line; raise SendFailed unless it is a success."""
        where = origin(url)
        try:
            response, text = self._runner.run(self._request(method, url, body))
        except TimeoutError as error:
            problem = f"{where} did not answer within {self._timeout} s"
            raise SendFailed(problem, retry=True) from error
        except httpx.TooManyRedirects as error:
            raise SendFailed(f"{where} redirects in a loop", retry=False) from error
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL) as error:
            raise SendFailed(f"cannot send a request to {where}: {error}", retry=False) from error
        except httpx.HTTPError as error:
            raise SendFailed(f"cannot reach {where}: {why(error)}", retry=True) from error
        except (OSError, ValueError, ImportError) as error:  # such as a proxy of an unknown kind
            raise SendFailed(
                f"cannot send a request to {where}: {why(error)}", retry=True
            ) from error
        reply = f"{response.status_code} {response.reason_phrase}"
        reply = f"{reply}: {text}" if text else reply
        if not response.is_success:
            is_temporary = response.is_server_error or response.status_code in RETRIED
            raise SendFailed(f"{where} answered {reply}", retry=is_temporary)
        return reply

    async def _request(self, method: str, url: str, body: bytes) -> tuple[httpx.Response, str]:
        async with asyncio.timeout(self._timeout):
            async with self._client.stream(method, url, content=body) as response:
                text = b""
                async for chunk in response.aiter_bytes():
                    text += chunk
                    if len(text) > REPLY_BYTES:
                        break
            return response, " ".join(text[:REPLY_BYTES].decode(errors="replace").split())

    def close(self) -> None:
        self._end()


def _close(runner: asyncio.Runner, client: httpx.AsyncClient) -> None:
    runner.run(client.aclose())
    runner.close()


class ProxyRoutes(httpx.AsyncBaseTransport):
    """Sends each request directly, or through the proxy that the environment names for it."""

    def __init__(self, settings: OverHttp) -> None:
        self._settings = settings
        self._context = notifier_context(settings.extra_ca, noverify=settings.noverify)
        self._transports: dict[str, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        proxy = _proxy(request.url)
        if proxy not in self._transports:
            self._transports[proxy] = _transport(self._settings, self._context, proxy)
        return await self._transports[proxy].handle_async_request(request)

    async def aclose(self) -> None:
        for transport in self._transports.values():
            await transport.aclose()


def _transport(settings: OverHttp, context: ssl.SSLContext, proxy: str) -> httpx.AsyncHTTPTransport:
    kept = 0 if settings.disable_http_keepalive else 1
    return httpx.AsyncHTTPTransport(
        verify=context,
        limits=httpx.Limits(max_keepalive_connections=kept, keepalive_expiry=90),
        proxy=proxy or None,
        socket_options=_keepalive(settings.keepalive),
    )


def _keepalive(seconds: int) -> list[tuple[int, int, int]]:
    if seconds <= 0:
        return []
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    if sys.platform == "linux":
        options.append((socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, min(seconds, 32767)))
        options.append((socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, min(seconds, 32767)))
    return options


def _proxy(url: httpx.URL) -> str:
    """The proxy for a URL, as Go finds it; requests to this machine never use one."""
    if url.host == "localhost" or _is_loopback(url.host) or proxy_bypass(url.host):
        return ""
    proxy = getproxies().get(url.scheme, "")
    return proxy if "://" in proxy or not proxy else f"http://{proxy}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def origin(url: str) -> str:
    """The part of a URL that may be shown: paths and queries often hold secrets."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise SendFailed(f"not a valid URL: {error}", retry=False) from error
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise SendFailed("not a valid URL: it must begin with http://host", retry=False)
    return f"{parsed.scheme}://{parsed.netloc.decode()}"
