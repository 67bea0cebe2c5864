"""Who may read and who may change something, for each listener."""

import base64
import binascii
import hashlib
import hmac

import msgspec

from warren.serve.http.answers import Answer, Request
from warren.serve.http.site import Site

READS = ("GET", "HEAD", "OPTIONS")
OPEN = ("/burrow/admin", "/burrow/admin/ready")  # probes can seldom log in
FILES = "/page/"  # the same for everybody
CHALLENGES = [("www-authenticate", "Bearer"), ("www-authenticate", 'Basic realm="warren"')]


class Access(msgspec.Struct, frozen=True):
    """Tokens are kept as digests: a worker never sees a token itself."""

    read: str = ""  # empty: anybody
    write: str = ""
    allow_writes: bool = True

    def refusal(self, site: Site, request: Request, authorization: str | None) -> Answer | None:
        """The answer to a request that is not allowed; None if it is allowed."""
        if request.method in READS:
            required = [] if is_open(request.path) else [self.read]
        elif not self.allow_writes:
            return site.problem(request, 403, "changes are not allowed here")
        else:
            required = [self.write or self.read]
        if not any(required):
            return None
        given = digest(_token(authorization or ""))
        known = [self.write, *([self.read] if request.method in READS else [])]
        if any(hmac.compare_digest(given, each) for each in known if each):
            return None
        status, headers, body = site.problem(request, 401, "a token is needed")
        return Answer(status, [*headers, *CHALLENGES], body)


def is_open(path: str) -> bool:
    return path in OPEN or path.startswith(FILES)


def digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()


def _token(authorization: str) -> str:
    """The bearer token, or the password of basic authentication."""
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return given.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(given).decode(errors="replace").partition(":")[2]
        except binascii.Error:
            return ""
    return ""
