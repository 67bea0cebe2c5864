"""How we verify whom we talk to, and why a connection failed."""

import os
import socket
import ssl

from warren.config import Tls
from warren.errors import SendFailed


def tls_context(tls: Tls) -> ssl.SSLContext:
    """What a `tls` section says; its `cafile` is trusted instead of the system's certificates."""
    context = ssl.create_default_context(cafile=tls.cafile or None)
    if tls.certfile:
        context.load_cert_chain(tls.certfile, tls.keyfile)
    if tls.noverify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def notifier_context(extra_ca: str, *, noverify: bool) -> ssl.SSLContext:
    """Trust the system's certificates and those of `extra_ca`, or anybody."""
    context = tls_context(Tls(noverify=noverify))
    if extra_ca and not noverify:
        try:
            context.load_verify_locations(extra_ca)
        except OSError as error:  # SSLError too
            problem = f"certificates of {extra_ca} cannot be used: {why(error)}"
            raise SendFailed(problem, retry=True) from error
    return context


def why(error: BaseException) -> str:
    """Say what was behind an error of a connection, in a few words."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not accepted: {cause.verify_message.rstrip('.')}"
        if isinstance(cause, ssl.SSLError):
            return f"TLS failed: {(cause.reason or str(cause)).lower().replace('_', ' ')}"
        if isinstance(cause, TimeoutError):
            return "it does not answer"
        if isinstance(cause, socket.gaierror):
            return "its name is not known"
        if isinstance(cause, OSError) and cause.errno:
            return os.strerror(cause.errno).lower()
    return str(error) or type(error).__name__


def _causes(error: BaseException | None) -> list[BaseException]:
    """An error and what it came from, the innermost first."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.insert(0, error)
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        else:
            error = error.__cause__ or error.__context__
    return found
