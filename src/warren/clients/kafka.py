"""A client profile as settings for two clients: librdkafka for requests, Spark's for reading.

IAM tokens for Amazon MSK come from Amazon's own library, if it is installed.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import structlog
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from warren.config import Connection, Iam, Sasl, Tls
from warren.errors import IamMissing, Unreachable


class Complaints:
    """Remembers the last error of a client: pass it as `error_cb`."""

    def __init__(self) -> None:
        self.last = ""

    def __call__(self, error: KafkaError) -> None:
        # "All brokers down" follows an earlier error and gives no reason.
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001  # librdkafka's own codes
            # Without "(after 3ms in state CONNECT)": the same failure should read the same.
            self.last = error.str().partition(" (after ")[0]

    def reason(self, error: KafkaException) -> str:
        """The last error, such as a wrong password; if there is none, that of the failed call."""
        return self.last or str(error.args[0].str())

    def forget(self) -> None:
        self.last = ""


log = structlog.get_logger()

SIGNER = "aws_msk_iam_sasl_signer"
MS = 1000

Token = tuple[str, float]  # and when it expires, in seconds


def is_installed() -> bool:
    return find_spec(SIGNER) is not None


def token_of(iam: Iam) -> Callable[[str], Token]:
    """An `oauth_cb` for confluent-kafka, which calls it for each token, before the last expires.

    confluent-kafka hides its exceptions, so they are logged.
    """

    def fetch_token(_: str) -> Token:
        try:
            token, expires_ms = _sign(iam)
        except Exception as error:
            log.error("no token for MSK", type="module", name=iam.name, problem=str(error))  # noqa: TRY400  # a line, not a trace
            raise
        return token, expires_ms / MS

    return fetch_token


def _sign(iam: Iam) -> tuple[str, int]:
    provider = import_module(SIGNER).MSKAuthTokenProvider
    signed: tuple[str, int]
    if iam.role_arn:
        signed = provider.generate_auth_token_from_role_arn(iam.region, iam.role_arn)
    elif iam.profile:
        signed = provider.generate_auth_token_from_profile(iam.region, iam.profile)
    else:
        signed = provider.generate_auth_token(iam.region)
    return signed


READER = "warren-reader"  # prefix of the groups of Spark's consumers
MODULES = "org.apache.kafka.common.security"
LOGIN_MODULES = {
    "PLAIN": f"{MODULES}.plain.PlainLoginModule",
    "SCRAM-SHA-256": f"{MODULES}.scram.ScramLoginModule",
    "SCRAM-SHA-512": f"{MODULES}.scram.ScramLoginModule",
    "OAUTHBEARER": f"{MODULES}.oauthbearer.OAuthBearerLoginModule",
}


def admin_client(
    servers: Sequence[str], connection: Connection, complain: Complaints | None = None
) -> AdminClient:
    """Make a client for requests; raises `SourceError` if it cannot get credentials."""
    if connection.iam is not None and not is_installed():
        raise IamMissing
    settings = librdkafka(servers, connection)
    try:
        return AdminClient(settings | ({"error_cb": complain} if complain else {}))
    except KafkaException as error:  # with IAM, the client waits for a token
        raise Unreachable(error.args[0].str()) from error


def reader_settings(servers: Sequence[str], connection: Connection) -> dict[str, object]:
    """Settings for a confluent-kafka consumer that reads records; it never joins its group."""
    return librdkafka(servers, connection) | {"group.id": f"{READER}-records"}


def librdkafka(servers: Sequence[str], connection: Connection) -> dict[str, object]:
    """Settings for confluent-kafka's clients."""
    profile, tls, sasl = connection.profile, connection.tls, connection.sasl
    settings: dict[str, object] = {
        "bootstrap.servers": ",".join(servers),
        "client.id": profile.client_id,
        "security.protocol": _protocol(connection),
        "socket.timeout.ms": profile.read_timeout * MS,
        "socket.connection.setup.timeout.ms": profile.dial_timeout * MS,
        "log_level": 0,  # errors that matter are raised by the call
    }
    if tls is not None:
        settings["enable.ssl.certificate.verification"] = not tls.noverify
        settings |= _given(
            {
                "ssl.ca.location": tls.cafile,
                "ssl.certificate.location": tls.certfile,
                "ssl.key.location": tls.keyfile,
            }
        )
    if connection.iam is not None:
        settings["sasl.mechanism"] = "OAUTHBEARER"
        settings["oauth_cb"] = token_of(connection.iam)
    elif sasl is not None:
        settings |= _librdkafka_login(sasl)
    return settings


def spark(servers: Sequence[str], connection: Connection, group: str) -> dict[str, str]:
    """Options for Spark's Kafka source; it never joins `group` and commits nothing.

    Spark caches its consumers by group: use another group with other options.
    """
    profile, tls, sasl = connection.profile, connection.tls, connection.sasl
    options = {
        "bootstrap.servers": ",".join(servers),
        "client.id": profile.client_id,
        "group.id": group,
        "security.protocol": _protocol(connection),
        "request.timeout.ms": str(profile.read_timeout * MS),
        "socket.connection.setup.timeout.ms": str(profile.dial_timeout * MS),
    }
    if tls is not None:
        options |= _java_tls(tls)
    if connection.iam is not None:
        options |= _java_iam(connection.iam)
    elif sasl is not None:
        options |= _java_login(sasl)
    return {f"kafka.{name}": value for name, value in options.items()}


def _protocol(connection: Connection) -> str:
    secured = "SSL" if connection.tls is not None else "PLAINTEXT"
    logs_in = connection.sasl is not None or connection.iam is not None
    return f"SASL_{secured}" if logs_in else secured


def _librdkafka_login(sasl: Sasl) -> dict[str, object]:
    mechanism = sasl.mechanism or "PLAIN"
    if mechanism != "OAUTHBEARER":
        return {
            "sasl.mechanism": mechanism,
            "sasl.username": sasl.username,
            "sasl.password": sasl.password.reveal(),
        }
    return {
        "sasl.mechanism": mechanism,
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": sasl.token_url,
        "sasl.oauthbearer.client.id": sasl.username,
        "sasl.oauthbearer.client.secret": sasl.password.reveal(),
        **_given({"sasl.oauthbearer.scope": sasl.scope}),
    }


def _java_tls(tls: Tls) -> dict[str, str]:
    options = _given(
        {
            "ssl.truststore.location": tls.cafile,
            "ssl.truststore.type": "PEM" if tls.cafile else "",
        }
    )
    if tls.certfile:
        options["ssl.keystore.type"] = "PEM"
        options["ssl.keystore.certificate.chain"] = Path(tls.certfile).read_text()
        options["ssl.keystore.key"] = Path(tls.keyfile).read_text()
    if tls.noverify:  # Java can skip the check of the host name, but not of the certificate
        options["ssl.endpoint.identification.algorithm"] = ""
    return options


def _java_login(sasl: Sasl) -> dict[str, str]:
    mechanism = sasl.mechanism or "PLAIN"
    user, password = sasl.username, sasl.password.reveal()
    if mechanism != "OAUTHBEARER":
        given = {"username": user, "password": password}
        return {
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": _jaas(LOGIN_MODULES[mechanism], given),
        }
    given = {"clientId": user, "clientSecret": password, **_given({"scope": sasl.scope})}
    return {
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": _jaas(LOGIN_MODULES[mechanism], given),
        "sasl.oauthbearer.token.endpoint.url": sasl.token_url,
        "sasl.login.callback.handler.class": (
            f"{MODULES}.oauthbearer.OAuthBearerLoginCallbackHandler"
        ),
    }


def _java_iam(iam: Iam) -> dict[str, str]:
    """Settings for Amazon's jar, which the user provides."""
    profile = "" if iam.role_arn else iam.profile
    given = _given({"awsRoleArn": iam.role_arn, "awsProfileName": profile})
    if iam.role_arn:
        given["awsStsRegion"] = iam.region
    return {
        "sasl.mechanism": "AWS_MSK_IAM",
        "sasl.jaas.config": _jaas("software.amazon.msk.auth.iam.IAMLoginModule", given),
        "sasl.client.callback.handler.class": (
            "software.amazon.msk.auth.iam.IAMClientCallbackHandler"
        ),
    }


def _given(settings: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in settings.items() if value}


def _jaas(module: str, given: dict[str, str]) -> str:
    entries = [f"{name}={_quoted(value)}" for name, value in given.items()]
    return " ".join([module, "required", *entries]) + ";"


def _quoted(text: str) -> str:
    """Quote for Java's StreamTokenizer; a plain line end would end the string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    escaped = escaped.replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'
