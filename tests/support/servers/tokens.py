"""An OIDC provider, as far as clients of Kafka know one: signed tokens for an id and its secret."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

LIFE_S = 600


class Tokens:
    """Signs tokens with a key of its own; `write_keys` tells brokers how to check them."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.url = ""
        self.secrets: dict[str, str] = {}  # by client id
        self.scopes: list[str] = []  # asked for

    def write_keys(self, path: Path) -> None:
        numbers = self._key.public_key().public_numbers()
        parts = {"n": _number(numbers.n), "e": _number(numbers.e)}
        key = {"kty": "RSA", "kid": "one", "use": "sig", "alg": "RS256", **parts}
        path.write_text(json.dumps({"keys": [key]}))

    def sign(self, subject: str, scope: str = "kafka") -> str:
        now = int(time.time())
        claims = {"sub": subject, "iat": now, "exp": now + LIFE_S, "scope": scope, "jti": str(now)}
        head = _json({"alg": "RS256", "typ": "JWT", "kid": "one"})
        signed = f"{head}.{_json(claims)}"
        signature = self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{signed}.{_text(signature)}"

    def answer(
        self, authorization: str, form: dict[str, list[str]]
    ) -> tuple[int, dict[str, object]]:
        """Credentials come as basic authentication, or in the form."""
        kind, _, encoded = authorization.partition(" ")
        basic = base64.b64decode(encoded).decode() if kind == "Basic" else ""
        client, _, secret = basic.partition(":")
        if not client or self.secrets.get(client) != secret:
            return 401, {"error": "invalid_client"}
        scope = form.get("scope", [""])[0]
        self.scopes.append(scope)
        token = self.sign(client, scope)
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": LIFE_S}


@contextmanager
def token_endpoint() -> Iterator[Tokens]:
    tokens = Tokens()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            form = parse_qs(self.rfile.read(length).decode())
            code, told = tokens.answer(self.headers.get("Authorization", ""), form)
            body = json.dumps(told).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    tokens.url = f"http://127.0.0.1:{server.server_port}/token"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield tokens
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _number(number: int) -> str:
    return _text(number.to_bytes((number.bit_length() + 7) // 8))


def _json(value: dict[str, object]) -> str:
    return _text(json.dumps(value).encode())


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
