"""Which handler answers a path; when none does, the answer is that of Burrow's router."""

import html
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from warren.serve.http.answers import TEXT, Answer, Request

Handler = Callable[..., Any]

UNKNOWN = Answer(
    404,
    [("content-type", TEXT), ("x-content-type-options", "nosniff")],
    b'{"error":true,"message":"invalid request type","result":{}}\n',
)
REDIRECTED = ("GET", "POST", "DELETE")  # the methods that routes have; no other is redirected


@dataclass
class _Node:
    fixed: dict[str, "_Node"] = field(default_factory=dict)
    any: "_Node | None" = None
    handlers: dict[str, Handler] = field(default_factory=dict)

    def ways(self, method: str) -> int:
        """How many fixed parts can follow here on a path for this method."""
        return sum(node.leads_to(method) for node in self.fixed.values())

    def leads_to(self, method: str) -> bool:
        after = [*self.fixed.values(), *([self.any] if self.any else [])]
        return method in self.handlers or any(node.leads_to(method) for node in after)


class Routes:
    """Paths in which `{}` stands for any text without a slash."""

    def __init__(self, table: dict[tuple[str, str], Handler]) -> None:
        self._root = _Node()
        for (method, path), handler in table.items():
            node = self._root
            for part in _parts(path):
                if part == "{}":
                    node.any = node.any or _Node()
                    node = node.any
                else:
                    node = node.fixed.setdefault(part, _Node())
            node.handlers[method] = handler

    def find(self, method: str, path: str) -> tuple[Handler, list[str]] | None:
        node, found = self._walk(_parts(path))
        handler = node.handlers.get(method) if node else None
        return (handler, found) if handler else None

    def otherwise(self, request: Request) -> Answer:
        """The answer when no handler was found."""
        if (request.method, request.path) == ("OPTIONS", "*"):
            return Answer(200, [], b"")
        if request.method in REDIRECTED:
            right = self._right_path(request.method, request.path)
            if right is not None:
                return _redirect(request, right)
        node, _ = self._walk(_parts(request.path))
        if node is None or not node.handlers:
            return UNKNOWN
        allow = ("allow", ", ".join(sorted({*node.handlers, "OPTIONS"})))
        if request.method == "OPTIONS":
            return Answer(200, [allow], b"")
        headers = [allow, ("content-type", TEXT), ("x-content-type-options", "nosniff")]
        return Answer(405, headers, b"Method Not Allowed\n")

    def _walk(self, parts: list[str]) -> tuple[_Node | None, list[str]]:
        node: _Node | None = self._root
        found = []
        for number, part in enumerate(parts):
            assert node is not None  # noqa: S101  # the loop ends when it is
            if part in node.fixed:
                node = node.fixed[part]
                continue
            # A name may be empty inside a path. At its end it is only a trailing slash.
            is_name = bool(part) or number < len(parts) - 1
            node = node.any if is_name else None
            found.append(part)
            if node is None:
                return None, []
        return node, found

    def _right_path(self, method: str, path: str) -> str | None:
        """The path that was meant: without extra slashes, fixed parts in lower case."""
        right = list[str]()
        node: _Node | None = self._root
        ends_in_name = False
        for part in _cleaned(path):
            if node is None:
                return None
            ends_in_name = part.lower() not in node.fixed
            right.append(part if ends_in_name else part.lower())
            node = node.any if ends_in_name else node.fixed[part.lower()]
        if node is None or method not in node.handlers:
            return None
        # If several fixed parts can follow a name, Burrow's router takes the slash for the
        # beginning of one of them and does not redirect.
        if path.endswith("/") and ends_in_name and node.ways(method) > 1:
            return None
        return "/" + "/".join(right)


def _parts(path: str) -> list[str]:
    return path.removeprefix("/").split("/")


def _cleaned(path: str) -> Iterator[str]:
    kept = list[str]()
    for part in path.split("/"):
        if part == "..":
            del kept[-1:]
        elif part not in {"", "."}:
            kept.append(part)
    return iter(kept)


def _redirect(request: Request, path: str) -> Answer:
    location = quote(path, safe="/$&+,:;=@!*'()~") + (f"?{request.query}" if request.query else "")
    if request.method != "GET":
        return Answer(307, [("location", location)], b"")
    body = f'<a href="{html.escape(location)}">Moved Permanently</a>.\n\n'
    headers = [("location", location), ("content-type", "text/html; charset=utf-8")]
    return Answer(301, headers, body.encode())
