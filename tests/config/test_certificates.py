"""Certificates and keys are tried before anything starts."""

import datetime as dt
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID
from support.config_files import MINIMAL, load_text, problems_of

TLS = """client-profile = "p"
[client-profile.p]
tls = "t"
[tls.t]
"""
CERTIFICATES = "must be a PEM file of certificates"
KEY = "must be a PEM file of a private key"


def write_pair(directory: Path, name: str) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    start = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), 1)
        .not_valid_before(start)
        .not_valid_after(start.replace(year=2120))
        .sign(key, SHA256())
    )
    (directory / f"{name}.crt").write_bytes(certificate.public_bytes(Encoding.PEM))
    (directory / f"{name}.key").write_bytes(pem(key, NoEncryption()))
    (directory / f"{name}.locked").write_bytes(pem(key, BestAvailableEncryption(b"x")))


def pem(key: ec.EllipticCurvePrivateKey, encryption: KeySerializationEncryption) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with two pairs, `a` and `b`, and a file that is neither."""
    write_pair(tmp_path, "a")
    write_pair(tmp_path, "b")
    (tmp_path / "junk").write_text("-----BEGIN NOTHING-----")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_certificates_that_can_be_used_load(files: Path) -> None:
    cases = [
        'cafile = "a.crt"',
        'certfile = "a.crt"\nkeyfile = "a.key"',
        'certfile = "a.crt"\nkeyfile = "a.key"\ncafile = "b.crt"',
        "noverify = true",
        "",
    ]

    refused = [text for text in cases if problems_of(files, MINIMAL + TLS + text)]

    assert refused == []


def test_certificates_that_cannot_be_used_get_one_line(files: Path) -> None:
    cases = {
        f'certfile: "no" cannot be read: No such file or directory; {CERTIFICATES}': (
            'certfile = "no"\nkeyfile = "a.key"'
        ),
        f'cafile: "." cannot be read: Is a directory; {CERTIFICATES}': 'cafile = "."',
        f'cafile: "junk" holds no certificates in PEM form; {CERTIFICATES}': 'cafile = "junk"',
        f'cafile: "a.key" holds no certificates in PEM form; {CERTIFICATES}': 'cafile = "a.key"',
        f'keyfile: "junk" holds no private key in PEM form; {KEY}': (
            'certfile = "a.crt"\nkeyfile = "junk"'
        ),
        f'keyfile: "a.locked" is protected by a password; {KEY} without one': (
            'certfile = "a.crt"\nkeyfile = "a.locked"'
        ),
        'keyfile: "b.key" is not the key of the certificate in "a.crt"; '
        "must be a PEM file of that key": 'certfile = "a.crt"\nkeyfile = "b.key"',
        "keyfile: missing; a certfile needs its keyfile": 'certfile = "a.crt"',
        "certfile: missing; a keyfile needs its certfile": 'keyfile = "a.key"',
    }

    found = {line: problems_of(files, MINIMAL + TLS + text) for line, text in cases.items()}

    assert found == {line: [f"tls.t.{line}"] for line in cases}


def test_an_http_server_needs_certificate_and_key(files: Path) -> None:
    server = '[httpserver.h]\naddress = ":0"\ntls = "T"\n[tls.t]\n'
    pair = 'certfile = "a.crt"\nkeyfile = "a.key"\n'

    assert load_text(files, server + pair).config.httpservers["h"].tls == "t"
    assert problems_of(files, server + 'cafile = "a.crt"\n') == [
        'httpserver.h.tls: "t" cannot be used here: [tls.t] has no certfile and no keyfile'
    ]


def test_zookeeper_needs_the_certificates_to_trust(files: Path) -> None:
    (files / "template").write_text("")
    text = """
    [zookeeper]
    servers = ["zk:2281"]
    tls = "t"
    [notifier.n]
    class-name = "null"
    template-open = "template"
    [tls.t]
    """

    assert problems_of(files, text + 'cafile = "a.crt"') == []
    assert problems_of(files, text) == [
        'zookeeper.tls: "t" cannot be used here: [tls.t] has no cafile',
    ]
