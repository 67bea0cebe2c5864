"""Certificates and keys, tried before anything starts that would need them."""

from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)


def certificates(file: str) -> list[x509.Certificate]:
    """Read a PEM file of certificates; raises ValueError with what is wrong."""
    try:
        return x509.load_pem_x509_certificates(_bytes(file))
    except ValueError as error:
        reason = _reason(error, "holds no certificates in PEM form")
        raise ValueError(f"{reason}; must be a PEM file of certificates") from error


def private_key(file: str) -> PrivateKeyTypes:
    try:
        return load_pem_private_key(_bytes(file), password=None)
    except TypeError as error:
        reason = "is protected by a password"
        raise ValueError(f"{reason}; must be a PEM file of a private key without one") from error
    except ValueError as error:
        reason = _reason(error, "holds no private key in PEM form")
        raise ValueError(f"{reason}; must be a PEM file of a private key") from error


def are_pair(certfile: str, keyfile: str) -> bool:
    """Say whether the first certificate was made for the key; both are known to be readable."""
    form = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    certified = certificates(certfile)[0].public_key().public_bytes(*form)
    return certified == private_key(keyfile).public_key().public_bytes(*form)


class _Unreadable(ValueError):
    pass


def _bytes(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise _Unreadable(f"cannot be read: {error.strerror}") from error


def _reason(error: ValueError, otherwise: str) -> str:
    return str(error) if isinstance(error, _Unreadable) else otherwise
