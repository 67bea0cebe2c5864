"""The web page: its files, its first view, and what is served without a token."""

import functools
import gzip
import hashlib
import html
from pathlib import Path
from string import Template
from typing import NamedTuple

from warren.serve import first_view
from warren.serve.http.answers import Answer, Request, accepts_gzip
from warren.serve.http.routes import UNKNOWN
from warren.serve.http.site import Site

FOLDER = Path(__file__).parent / "page"
KINDS = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
# Scripts and styles are our own files: nothing is loaded from elsewhere or written inline.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = [
    ("content-type", "text/html; charset=utf-8"),
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
]
# Not preloaded: the first is loaded when a chart is drawn, the second runs before all others.
LATER = {"lib/uplot.js", "lib/first_theme.js"}
LATE_S = 30  # how late a board may be before the page says that it is old
FOR_EVER = "public, max-age=31536000, immutable"
LOCKED = (
    "<noscript><p>A token is needed: <a href='/?view=groups'>log in</a>, with any name and the "
    "token as password.</p></noscript>"
)


class PageFiles(NamedTuple):
    version: str  # changes with any file, so that a browser may cache them for ever
    shell: Template
    packed: dict[str, bytes]  # gzipped, by path such as "lib/dom.js"; nothing else is ever served


@functools.cache
def files() -> PageFiles:
    paths = [path for path in sorted(FOLDER.rglob("*")) if path.is_file()]
    found = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in paths}
    version = hashlib.sha256(b"".join(found.values())).hexdigest()[:12]
    shell = Template(found.pop("index.html").decode())
    return PageFiles(version, shell, {name: gzip.compress(body) for name, body in found.items()})


def page(site: Site, request: Request) -> Answer:
    if request.query:
        view = first_view.render(site, request.query)
    else:
        view = site.once("first view", lambda _: first_view.render(site, "").encode()).decode()
    return _fill_shell(site, view, first_view.as_of(site.view))


def asset(_site: Site, request: Request, version: str, *parts: str) -> Answer:
    name = "/".join(parts)
    packed = files().packed.get(name)
    if packed is None:
        return UNKNOWN
    headers = [
        ("content-type", KINDS[Path(name).suffix]),
        ("cache-control", FOR_EVER if version == files().version else "no-store"),
        ("x-content-type-options", "nosniff"),
        ("vary", "accept-encoding"),
    ]
    if accepts_gzip(request.accept_encoding):
        return Answer(200, [*headers, ("content-encoding", "gzip")], packed)
    return Answer(200, headers, gzip.decompress(packed))


def page_or_refusal(refusal: Answer, site: Site, request: Request) -> Answer:
    """A refused browser gets the empty page, which then asks for the token."""
    is_page = (request.method, request.path, request.query) == ("GET", "/", "")
    return _fill_shell(site, LOCKED, "") if is_page else refusal


def _fill_shell(site: Site, view: str, moment: str) -> Answer:
    version, shell, packed = files()
    assets = f"/page/{version}"
    modules = sorted(name for name in packed if name.endswith(".js") and name not in LATER)
    preloads = "\n".join(f'<link rel="modulepreload" href="{assets}/{name}">' for name in modules)
    body = shell.substitute(
        assets=assets,
        preloads=preloads,
        fresh=site.settings.judged_every_s + LATE_S,
        history="kept" if site.settings.keeps_history else "",
        grafana=html.escape(site.settings.grafana_url),
        view=view,
        moment=html.escape(moment),
    )
    return Answer(200, HEADERS, body.encode())
