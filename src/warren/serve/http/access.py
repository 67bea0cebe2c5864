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
SILENCES = "/v4/silences"
FILES = "/page/"  # the same for everybody
CHALLENGES = [("www-authenticate", "Bearer"), ("www-authenticate", 'Basic realm="warren"')]


class Access(msgspec.Struct, frozen=True):
    """Tokens are kept as digests: a worker never sees a token itself."""

    read: str = ""  # empty: anybody
    write: str = ""
    report: str = ""  # for reporting offsets, and nothing else
    silence: str = ""  # for reading, and for adding and ending silences
    allow_writes: bool = True

    def refusal(self, site: Site, request: Request, authorization: str | None) -> Answer | None:
        """The answer to a request that is not allowed; None if it is allowed."""
        if request.method not in READS and not self.allow_writes:
            return site.problem(request, 403, "changes are not allowed here")
        required, known = self._tokens(request)
        if not required:
            return None
        given = digest(_token(authorization or ""))
        if _is_one_of(given, known):
            return None
        for token, may in self._limits(request):
            if _is_one_of(given, [token]):
                return site.problem(request, 403, f"this token may {may}")
        status, headers, body = site.problem(request, 401, "a token is needed")
        return Answer(status, [*headers, *CHALLENGES], body)

    def _tokens(self, request: Request) -> tuple[str, list[str]]:
        """The token that is required, if any is, and all that will do."""
        if request.method in READS:
            required = "" if is_open(request.path) else self.read
            return required, [self.write, self.read, self.silence]
        if is_report(request):
            return self.report or self.write or self.read, [self.write, self.report]
        if request.path == SILENCES or request.path.startswith(f"{SILENCES}/"):
            return self.silence or self.write or self.read, [self.write, self.silence]
        return self.write or self.read, [self.write]

    def _limits(self, request: Request) -> list[tuple[str, str]]:
        """Tokens that are known and will not do, and why."""
        if is_report(request):
            return [(token, "not report offsets") for token in (self.read, self.silence)]
        return [
            (self.report, "only report offsets"),
            (self.silence, "only read, and silence groups"),
        ]

    def token(self, authorization: str | None) -> str:
        """Whose token it is: write, silence, read or report; empty: nobody's."""
        given = digest(_token(authorization or ""))
        for name in ("write", "silence", "read", "report"):
            if _is_one_of(given, [getattr(self, name)]):
                return name
        return ""


def _is_one_of(given: str, known: list[str]) -> bool:
    return any(hmac.compare_digest(given, each) for each in known if each)


def is_report(request: Request) -> bool:
    return request.method == "POST" and request.path == REPORTS


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
