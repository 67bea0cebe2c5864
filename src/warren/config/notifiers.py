"""Notifiers: what all have in common, then one Struct for each class-name.

A new class is a Struct here and a line in `NOTIFIERS`.
"""

import re
from typing import Annotated

import msgspec

from warren.config.keys import (
    Check,
    Host,
    NonNegative,
    Period,
    Port,
    Regexp,
    Seconds,
    Url,
    key,
    one_of,
)
from warren.config.modules import Filtered
from warren.config.secrets import FrozenMap, Secret


def _method(text: str) -> str:
    if not re.fullmatch("[A-Za-z]+", text):
        raise ValueError
    return text


RATE, NO_LIMIT = 20, 0

AuthType = Annotated[str, one_of("", "plain", "crammd5", fold=str.lower)]
Method = Annotated[str, Check(_method, "an HTTP method such as POST")]


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
            "Template of the message about a group that is good again, relative to the working "
            "directory; required with send-close.",
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
    max_per_minute: Annotated[
        NonNegative | None,
        key(
            "Warren's own. Messages a minute; of more groups than that it tells in a digest. "
            "0 is no limit.",
            default="20; `http`: 0",
            example="20",
        ),
    ] = None
    lag_above: Annotated[
        NonNegative | None,
        key(
            "Warren's own. Tell as well when a lag is above this many messages.",
            default="off",
            example="10000",
        ),
    ] = None
    lag_growing_for: Annotated[
        Seconds,
        key(
            "Warren's own. Tell as well when a lag has been growing for this many seconds; with "
            "lag-above too, when both are so. 0 is off.",
            example="900",
        ),
    ] = 0
    lag_groups: Annotated[
        Regexp,
        key(
            "Warren's own. Lag of groups in whose name this is found; all if empty.",
            example="^important-",
        ),
    ] = ""
    lag_topics: Annotated[
        Regexp,
        key(
            "Warren's own. Each topic in whose name this is found by itself; if empty, the lag of "
            "all topics of a group together.",
            example="^orders",
        ),
    ] = ""

    @property
    def rate(self) -> int:
        """Messages a minute at most; 0 is no limit."""
        return RATE if self.max_per_minute is None else self.max_per_minute

    @property
    def repeat_s(self) -> int:
        """The seconds between two messages about a group that stays bad."""
        return self.interval if self.send_interval is None else self.send_interval


class OverHttp(Notifier, frozen=True, kw_only=True):
    """What every class has that sends HTTP requests."""

    timeout: Annotated[Period, key("Time-out of the whole request, seconds.")] = 5
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


class HttpNotifier(OverHttp, frozen=True, kw_only=True):
    url_open: Annotated[
        str, key("URL, itself a template; required.", example="http://alerts.example.com/v1/event")
    ] = ""
    url_close: Annotated[
        str,
        key("The same, required with send-close.", example="http://alerts.example.com/v1/event"),
    ] = ""
    method_open: Annotated[Method, key("HTTP method.")] = "POST"
    method_close: Annotated[Method, key("HTTP method.")] = "POST"

    @property
    def rate(self) -> int:
        """Burrow's receivers take a message a group."""
        return self.max_per_minute or NO_LIMIT


class SlackNotifier(OverHttp, frozen=True, kw_only=True):
    webhook_url: Annotated[
        Secret,
        key(
            "Slack's incoming webhook; who has it may post to the channel.",
            example="https://hooks.slack.com/services/T000/B000/XXXX",
        ),
    ]


class AlertmanagerNotifier(OverHttp, frozen=True, kw_only=True):
    url: Annotated[
        Url, key("Where Alertmanager answers.", example="http://alertmanager.example.com:9093")
    ]


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
    "slack": SlackNotifier,
    "alertmanager": AlertmanagerNotifier,
}
