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
REPORTS = "/v4/offsets"
FILES = "/page/"  # the same for everybody
CHALLENGES = [("www-authenticate", "Bearer"), ("www-authenticate", 'Basic realm="warren"')]


class Access(msgspec.Struct, frozen=True):
    """Tokens are kept as digests: a worker never sees a token itself."""

    read: str = ""  # empty: anybody
    write: str = ""
    report: str = ""  # for reporting offsets, and nothing else
    allow_writes: bool = True

    def refusal(self, site: Site, request: Request, authorization: str | None) -> Answer | None:
        """The answer to a request that is not allowed; None if it is allowed."""
        if request.method not in READS and not self.allow_writes:
            return site.problem(request, 403, "changes are not allowed here")
        is_report = request.method == "POST" and request.path == REPORTS
        if request.method in READS:
            required, known = "" if is_open(request.path) else self.read, [self.write, self.read]
        elif is_report:
            required, known = self.report or self.write or self.read, [self.write, self.report]
        else:
            required, known = self.write or self.read, [self.write]
        if not required:
            return None
        given = digest(_token(authorization or ""))
        if _is_one_of(given, known):
            return None
        if _is_one_of(given, [self.read] if is_report else [self.report]):
            may = "not report offsets" if is_report else "only report offsets"
            return site.problem(request, 403, f"this token may {may}")
        status, headers, body = site.problem(request, 401, "a token is needed")
        return Answer(status, [*headers, *CHALLENGES], body)

    def token(self, authorization: str | None) -> str:
        """Whose token it is: write, read or report; empty: nobody's."""
        given = digest(_token(authorization or ""))
        tokens = {"write": self.write, "read": self.read, "report": self.report}
        return next((name for name, each in tokens.items() if _is_one_of(given, [each])), "")


def _is_one_of(given: str, known: list[str]) -> bool:
    return any(hmac.compare_digest(given, each) for each in known if each)


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
