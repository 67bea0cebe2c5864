"""Tokens for Amazon MSK's IAM, from Amazon's own library where it is installed."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

import structlog

from warren.config import Iam

log = structlog.get_logger()

SIGNER = "aws_msk_iam_sasl_signer"
MS = 1000

Token = tuple[str, float]  # and when it ends, in seconds


def is_installed() -> bool:
    return find_spec(SIGNER) is not None


def token_of(iam: Iam) -> Callable[[str], Token]:
    """Give confluent-kafka's `oauth_cb`: it is called when a token is needed, and before it ends.

    confluent-kafka keeps what goes wrong in it to itself, so it is logged.
    """

    def token(_: str) -> Token:
        try:
            signed, ends_ms = _signed(iam)
        except Exception as error:
            log.error("no token for MSK", type="module", name=iam.name, problem=str(error))  # noqa: TRY400  # a line, not a trace
            raise
        return signed, ends_ms / MS

    return token


def _signed(iam: Iam) -> tuple[str, int]:
    provider = import_module(SIGNER).MSKAuthTokenProvider
    signed: tuple[str, int]
    if iam.role_arn:
        signed = provider.generate_auth_token_from_role_arn(iam.region, iam.role_arn)
    elif iam.profile:
        signed = provider.generate_auth_token_from_profile(iam.region, iam.profile)
    else:
        signed = provider.generate_auth_token(iam.region)
    return signed
