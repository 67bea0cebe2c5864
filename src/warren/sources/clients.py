"""One client profile for two clients: librdkafka, which asks, and Spark's, which reads."""

from collections.abc import Sequence
from pathlib import Path

from warren.config import Connection

MS = 1000


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
    if sasl is not None:
        settings["sasl.mechanism"] = sasl.mechanism or "PLAIN"
        settings["sasl.username"] = sasl.username
        settings["sasl.password"] = sasl.password.reveal()
    return settings


def spark(servers: Sequence[str], connection: Connection) -> dict[str, str]:
    """Options for Spark's Kafka source."""
    profile, tls, sasl = connection.profile, connection.tls, connection.sasl
    options = {
        "kafka.bootstrap.servers": ",".join(servers),
        "kafka.client.id": profile.client_id,
        "kafka.security.protocol": _protocol(connection),
        "kafka.request.timeout.ms": str(profile.read_timeout * MS),
        "kafka.socket.connection.setup.timeout.ms": str(profile.dial_timeout * MS),
    }
    if tls is not None:
        options |= _given(
            {
                "kafka.ssl.truststore.location": tls.cafile,
                "kafka.ssl.truststore.type": "PEM" if tls.cafile else "",
            }
        )
        if tls.certfile:
            options["kafka.ssl.keystore.type"] = "PEM"
            options["kafka.ssl.keystore.certificate.chain"] = Path(tls.certfile).read_text()
            options["kafka.ssl.keystore.key"] = Path(tls.keyfile).read_text()
        if tls.noverify:  # Java can be talked out of checking the name, not the certificate
            options["kafka.ssl.endpoint.identification.algorithm"] = ""
    if sasl is not None:
        mechanism = sasl.mechanism or "PLAIN"
        module = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
        options["kafka.sasl.mechanism"] = mechanism
        options["kafka.sasl.jaas.config"] = (
            f"org.apache.kafka.common.security.{module}LoginModule required "
            f"username={_jaas(sasl.username)} password={_jaas(sasl.password.reveal())};"
        )
    return options


def _protocol(connection: Connection) -> str:
    secured = "SSL" if connection.tls is not None else "PLAINTEXT"
    return f"SASL_{secured}" if connection.sasl is not None else secured


def _given(settings: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in settings.items() if value}


def _jaas(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
