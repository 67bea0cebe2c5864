"""Answers of a running Warren, over HTTP."""

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import httpx
import msgspec

from warren.clients.tls import tls_context
from warren.config import Tls
from warren.config.secrets import Secret, masked_url
from warren.errors import GroupUnknown, Unanswered
from warren.serve.v4.shapes import Explanation, Group, GroupLine, Groups, Moment, Overview, Problem
from warren.terminal.words import shown

T = TypeVar("T")

NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")  # by the version of OpenSSL
CONNECT_S, ANSWER_S = 5.0, 60.0  # a hundred thousand groups take a while


class Remote:
    """One Warren; `ask` requests any path."""

    def __init__(self, url: str, token: Secret | None = None, cafile: Path | None = None) -> None:
        self.url = url.rstrip("/")
        self.shown = masked_url(self.url)
        headers = {"authorization": f"Bearer {token.reveal()}"} if token else {}
        try:
            self._client = httpx.Client(
                base_url=self.url,
                headers=headers,
                timeout=httpx.Timeout(ANSWER_S, connect=CONNECT_S),
                verify=tls_context(Tls(cafile=str(cafile))) if cafile else True,
                # A proxy that is set for the world has nothing to say about this machine.
                trust_env=not _is_this_machine(self.url),
            )
        except (httpx.InvalidURL, ValueError) as error:
            raise Unanswered(self.shown, f"is not a URL: {error}") from error
        except OSError as error:
            raise Unanswered(self.shown, f"cannot read {cafile}: {error.strerror}") from error

    def overview(self) -> Overview:
        return self._decoded(self.ask("/v4/overview"), Overview)

    def groups(self) -> Groups:
        # Lines instead of pages: all are then of one board.
        answer = self.ask("/v4/groups", {"format": "ndjson"})
        board = msgspec.json.decode(answer.headers["x-warren-board"], type=Moment)
        lines = [msgspec.json.decode(each, type=GroupLine) for each in answer.content.splitlines()]
        return Groups(board, len(lines), lines)

    def group(self, cluster: str, group: str) -> Group:
        return self._about("/v4/group", cluster, group, Group)

    def explain(self, cluster: str, group: str) -> Explanation:
        return self._about("/v4/explain", cluster, group, Explanation, all="true")

    def _about(self, path: str, cluster: str, group: str, kind: type[T], **also: str) -> T:
        query = {"cluster": cluster, "group": group, **also}
        answer = self.ask(path, query, also=(404,))
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise GroupUnknown(cluster, group)
        return self._decoded(answer, kind)

    def ask(
        self, path: str, query: Mapping[str, str] | None = None, also: tuple[int, ...] = ()
    ) -> httpx.Response:
        """The answer to a GET; one that is neither good nor in `also` is an error."""
        answer = self._get(path, query)
        if answer.is_success or answer.status_code in also:
            return answer
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            raise Unanswered(
                self.shown, "wants a token: set WARREN_TOKEN, or name a file with --token-file"
            )
        raise Unanswered(self.shown, _said(answer) or _stranger(answer, path))

    def _get(self, path: str, query: Mapping[str, str] | None) -> httpx.Response:
        try:
            return self._client.get(path, params=query)
        except httpx.UnsupportedProtocol as error:
            raise Unanswered(self.shown, "is not a URL with http:// or https://") from error
        except httpx.ConnectTimeout as error:
            raise Unanswered(self.shown, f"does not answer within {CONNECT_S:.0f} s") from error
        except httpx.TransportError as error:
            raise Unanswered(self.shown, self._reason(error)) from error

    def _reason(self, error: httpx.TransportError) -> str:
        text = str(error).partition("] ")[2] or str(error) or type(error).__name__
        if isinstance(error, httpx.ConnectError) and "refused" in text:
            return "nothing listens there; is Warren running? (--url names another address)"
        scheme, colon, rest = self.shown.partition(":")
        if any(each in text.upper().replace(" ", "_") for each in NO_TLS):
            return f"speaks no TLS: write http{colon}{rest}"
        if scheme == "http" and isinstance(error, httpx.ReadError | httpx.RemoteProtocolError):
            return f"closes the connection without an answer; with TLS, write https{colon}{rest}"
        return f"cannot be reached: {text}"

    def _decoded(self, answer: httpx.Response, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(answer.content, type=kind)
        except msgspec.DecodeError as error:
            raise Unanswered(self.shown, f"is no Warren of this version: {error}") from error


def _said(answer: httpx.Response) -> str:
    """What a Warren gives as its reason; empty if something else has answered."""
    try:
        problem = msgspec.json.decode(answer.content, type=Problem)
    except msgspec.DecodeError:
        return ""
    return f"answers: {shown(problem.message)}"


def _stranger(answer: httpx.Response, path: str) -> str:
    return f"is no Warren: it answers {answer.status_code} to {path}"


def _is_this_machine(url: str) -> bool:
    host = httpx.URL(url).host
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
