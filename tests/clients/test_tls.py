"""Whom a context trusts, and what it shows of itself."""

import ssl
from pathlib import Path

import pytest
from support.certificates import make_certificates

from warren.clients.tls import notifier_context, tls_context
from warren.config import Tls
from warren.errors import SendFailed


@pytest.fixture
def ca(tmp_path: Path) -> Path:
    make_certificates(tmp_path / "ca.pem")
    return tmp_path / "ca.pem"


def shake_hands(client: ssl.SSLContext, ca: Path) -> str:
    """Connect to a server with a certificate of this authority; "" if it worked, else why not."""
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=ca)
    server.verify_mode = ssl.CERT_OPTIONAL
    server.load_cert_chain(ca.with_name("server.pem"))
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(to_client, to_server, server_hostname="localhost")
    theirs = server.wrap_bio(to_server, to_client, server_side=True)
    for side in (ours, theirs, ours, theirs):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
        except ssl.SSLCertVerificationError as error:
            return error.verify_message
    subject = dict(theirs.getpeercert() or {}).get("subject", ())
    return f"shown: {subject[0][0][1]}" if subject else ""


def test_a_section_says_whom_to_trust_and_what_to_show(ca: Path) -> None:
    certfile, keyfile = str(ca.with_name("client.pem")), str(ca.with_name("client.key"))
    cases = {
        "nothing": (Tls(), "self-signed certificate in certificate chain"),
        "cafile": (Tls(cafile=str(ca)), ""),
        "noverify": (Tls(noverify=True), ""),
        "certfile": (Tls(cafile=str(ca), certfile=certfile, keyfile=keyfile), "shown: client"),
    }

    told = {name: shake_hands(tls_context(tls), ca) for name, (tls, _) in cases.items()}

    assert told == {name: expected for name, (_, expected) in cases.items()}


def test_notifiers_trust_an_authority_besides_the_systems(ca: Path) -> None:
    strict, lenient = notifier_context(str(ca), noverify=False), notifier_context("", noverify=True)

    assert [shake_hands(context, ca) for context in (strict, lenient)] == ["", ""]
    assert strict.cert_store_stats()["x509"] > tls_context(Tls()).cert_store_stats()["x509"]


def test_certificates_that_cannot_be_read_are_a_reason_not_to_send(tmp_path: Path) -> None:
    with pytest.raises(SendFailed, match="cannot be used: no such file or directory"):
        notifier_context(str(tmp_path / "missing.pem"), noverify=False)
