"""One client profile for two clients: librdkafka, which asks, and Spark's, which reads."""

from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from warren.clients import msk
from warren.clients.complaints import Complaints
from warren.config import Connection, Iam, Sasl, Tls
from warren.errors import IamMissing, Unreachable

MS = 1000
READER = "warren-reader"  # how the groups of Spark's consumers begin
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
    """Make a client that asks; raises `SourceError` when there is nothing to log in with."""
    if connection.iam is not None and not msk.is_installed():
        raise IamMissing
    settings = librdkafka(servers, connection)
    try:
        return AdminClient(settings | ({"error_cb": complain} if complain else {}))
    except KafkaException as error:  # with IAM, a token is waited for
        raise Unreachable(error.args[0].str()) from error


def librdkafka(servers: Sequence[str], connection: Connection) -> dict[str, object]:
    """Settings for confluent-kafka's clients."""
    profile, tls, sasl = connection.profile, connection.tls, connection.sasl
    settings: dict[str, object] = {
        "bootstrap.servers": ",".join(servers),
        "client.id": profile.client_id,
        "security.protocol": _protocol(connection),
        "socket.timeout.ms": profile.read_timeout * MS,
        "socket.connection.setup.timeout.ms": profile.dial_timeout * MS,
        "log_level": 0,  # what matters comes back as an error of the call
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
        settings["oauth_cb"] = msk.token_of(connection.iam)
    elif sasl is not None:
        settings |= _librdkafka_login(sasl)
    return settings


def spark(servers: Sequence[str], connection: Connection, group: str) -> dict[str, str]:
    """Options for Spark's Kafka source; `group` is never joined, and nothing is committed.

    Spark keeps its consumers by group: options that differ must not name the same one.
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
    if tls.noverify:  # Java can be talked out of checking the name, not the certificate
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
    """What Amazon's jar asks for; it is the user's to bring."""
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
    """As Java's StreamTokenizer reads it; a bare end of line would end the string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    escaped = escaped.replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'
