"""A broker with listeners for passwords and for certificates beside the plain one."""

import secrets
from collections.abc import Mapping, Sequence

from support.certificates import make_certificates

from warren.demo.broker import Broker, free_ports

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
PROTOCOLS = ("PLAINTEXT:PLAINTEXT", "CONTROLLER:PLAINTEXT", "SASL_SSL:SASL_SSL", "SSL:SSL")


class SecureBroker(Broker):
    """Its only user logs in with a password (SCRAM) over TLS, or shows a certificate."""

    user = "warren"

    def __init__(
        self,
        *,
        offsets_partitions: int = 4,
        properties: Mapping[str, str] | None = None,
        java_options: Sequence[str] = (),
    ) -> None:
        super().__init__(offsets_partitions=offsets_partitions, java_options=java_options)
        secure, mutual = free_ports(2)
        self.secure_bootstrap = f"localhost:{secure}"
        self.mutual_bootstrap = f"localhost:{mutual}"
        self.password = secrets.token_urlsafe(12)
        self.ca = self.directory / "ca.pem"
        scram = f"SCRAM-SHA-512=[name={self.user},password={self.password}]"
        self.format_arguments = ["--add-scram", scram]
        self.configure(self._listeners() | self._logins() | dict(properties or {}))

    def client(self, password: str | None = None) -> dict[str, str]:
        """What a confluent-kafka client needs for the SASL_SSL listener."""
        return {
            "bootstrap.servers": self.secure_bootstrap,
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": self.user,
            "sasl.password": password or self.password,
            "ssl.ca.location": str(self.ca),
        }

    def _listeners(self) -> dict[str, str]:
        more = f"SASL_SSL://{self.secure_bootstrap},SSL://{self.mutual_bootstrap}"
        return {
            "listeners": f"{self.settings['listeners']},{more}",
            "advertised.listeners": f"{self.settings['advertised.listeners']},{more}",
            "listener.security.protocol.map": ",".join(PROTOCOLS),
        }

    def _logins(self) -> dict[str, str]:
        key = make_certificates(self.ca, client=self.user)
        return {
            "sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": f"{SCRAM} required;",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(key),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.ca),
            "listener.name.ssl.ssl.client.auth": "required",
            "ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/,DEFAULT",
        }
