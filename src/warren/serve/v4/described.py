"""The documentation's own routes."""

import functools

import msgspec

from warren.serve.answers import Answer, Request
from warren.serve.site import Site
from warren.serve.v4.openapi import document
from warren.serve.v4.page import page

# The page is ours alone: nothing is loaded from elsewhere, and no script runs.
POLICY = ("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")


@functools.cache
def _document() -> bytes:
    return msgspec.json.encode(document())


@functools.cache
def _page() -> bytes:
    return page(document()).encode()


def openapi(site: Site, _request: Request) -> Answer:
    return Answer(200, [("content-type", "application/json"), *site.cors], _document())


def docs(_site: Site, _request: Request) -> Answer:
    return Answer(200, [("content-type", "text/html; charset=utf-8"), POLICY], _page())
