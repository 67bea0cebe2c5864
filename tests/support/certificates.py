"""A made-up certificate authority, for brokers that ask for TLS."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

VALID = timedelta(days=30)


def make_certificates(ca_path: Path, valid: timedelta = VALID, client: str = "client") -> Path:
    """Write an authority's certificate, and beside it a server's key with chain; return the key.

    `client.pem` and `client.key` are for one who shows a certificate of this name to the server.
    """
    ca_key, ca_name = ec.generate_private_key(ec.SECP256R1()), _name("Warren demo CA")
    may_sign = x509.BasicConstraints(ca=True, path_length=0)
    ca = _builder(ca_name, ca_name, ca_key).add_extension(may_sign, critical=True)
    ca_pem = _pem(ca.sign(ca_key, hashes.SHA256()))

    key = ec.generate_private_key(ec.SECP256R1())
    hosts = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    names = x509.SubjectAlternativeName(hosts)
    server = _builder(_name("localhost"), ca_name, key, valid).add_extension(names, critical=False)
    server_pem = _pem(server.sign(ca_key, hashes.SHA256()))

    client_key = ec.generate_private_key(ec.SECP256R1())
    shown = _builder(_name(client), ca_name, client_key, valid).sign(ca_key, hashes.SHA256())

    ca_path.write_bytes(ca_pem)
    ca_path.with_name("client.pem").write_bytes(_pem(shown))
    _write_secret(ca_path.with_name("client.key"), _pem_key(client_key))
    server_path = ca_path.with_name("server.pem")
    _write_secret(server_path, _pem_key(key) + server_pem + ca_pem)
    return server_path


def _write_secret(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    valid: timedelta = VALID,
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder(issuer, subject, key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))  # clocks differ
        .not_valid_after(now + valid)
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _pem_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
