"""Notifiers: what all have in common, then one Struct for each class-name.

A new class is a Struct here and a line in `NOTIFIERS`.
"""

from typing import Annotated

import msgspec

from warren.config.keys import Host, Period, Port, key, one_of
from warren.config.modules import Filtered
from warren.config.secrets import FrozenMap, Secret

AuthType = Annotated[str, one_of("", "plain", "crammd5", fold=str.lower)]


class Notifier(Filtered, frozen=True, kw_only=True):
    class_name: Annotated[str, key("How to notify.")]
    template_open: Annotated[
        str,
        key(
            "Template of the message about a bad group, relative to the working directory; "
            "required for `http`, `email` and `null`.",
            example="config/default-http-post.tmpl",
        ),
    ] = ""
    template_close: Annotated[
        str,
        key(
            "Template of the message about a group that is good again; required with send-close.",
            example="config/default-http-delete.tmpl",
        ),
    ] = ""
    interval: Annotated[Period, key("Seconds between looks at a group.")] = 60
    send_interval: Annotated[
        int | None,
        key("Seconds between messages about a group.", default="as interval", example="60"),
    ] = None
    threshold: Annotated[int, key("Least status to notify about: 1 OK, 2 WARN, 3 ERR.")] = 2
    send_close: Annotated[bool, key("Send a message when a group is good again.")] = False
    send_once: Annotated[bool, key("Send one message an incident, not one an interval.")] = False
    extras: Annotated[
        FrozenMap[str],
        key("Free values for the templates.", example='{ api_key = "REDACTED", app = "burrow" }'),
    ] = FrozenMap()

    @property
    def repeat_s(self) -> int:
        """The seconds between two messages about a group that stays bad."""
        return self.interval if self.send_interval is None else self.send_interval


class HttpNotifier(Notifier, frozen=True, kw_only=True):
    url_open: Annotated[
        str, key("URL, itself a template; required.", example="http://alerts.example.com/v1/event")
    ] = ""
    url_close: Annotated[
        str,
        key("The same, required with send-close.", example="http://alerts.example.com/v1/event"),
    ] = ""
    method_open: Annotated[str, key("HTTP method.")] = "POST"
    method_close: Annotated[str, key("HTTP method.")] = "POST"
    timeout: Annotated[int, key("Time-out of the whole request, seconds.")] = 5
    keepalive: Annotated[int, key("TCP keep-alive, seconds.")] = 300
    disable_http_keepalive: Annotated[bool, key("A new connection for every message.")] = False
    headers: Annotated[
        FrozenMap[str], key("Headers of the request.", example='{ X-Origin = "warren" }')
    ] = FrozenMap()
    username: Annotated[str, key("User for basic authentication.", example="warren")] = ""
    password: Annotated[Secret, key("Its password.", example="secret")] = Secret()
    extra_ca: Annotated[
        str, key("Certificates to trust besides the system's.", example="ca.pem")
    ] = ""
    noverify: Annotated[bool, key("Do not verify the server's certificate.")] = False


class EmailNotifier(Notifier, frozen=True, kw_only=True):
    server: Annotated[Host, key("SMTP server.", example="mail.example.com")]
    port: Annotated[Port, key("Its port; 465 is TLS from the start.", example="587")]
    sender: Annotated[str, key("Sender's address.", example="burrow@example.com")] = msgspec.field(
        name="from"
    )
    to: Annotated[str, key("Receivers' addresses, separated by commas.", example="ops@example.com")]
    auth_type: Annotated[
        AuthType, key("`plain` or `crammd5`; no log-in if empty.", example="plain")
    ] = ""
    username: Annotated[str, key("User name.", example="warren")] = ""
    password: Annotated[Secret, key("Password.", example="secret")] = Secret()
    extra_ca: Annotated[
        str, key("Certificates to trust besides the system's.", example="ca.pem")
    ] = ""
    noverify: Annotated[bool, key("Do not verify the server's certificate.")] = False


NOTIFIERS: dict[str, type[Notifier]] = {
    "http": HttpNotifier,
    "email": EmailNotifier,
    "null": Notifier,
    "slack": Notifier,
    "alertmanager": Notifier,
}
