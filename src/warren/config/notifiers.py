"""Notifiers: first the keys of all, then one Struct for each class-name.

A new class needs a Struct here and a line in `NOTIFIERS`.
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
            "Template of the message about a bad group, a path relative to the working directory; "
            "required for `http`, `email` and `null`.",
            example="config/default-http-post.tmpl",
        ),
    ] = ""
    template_close: Annotated[
        str,
        key(
            "Template of the message about a group that is good again, a path relative to the "
            "working directory; required with send-close.",
            example="config/default-http-delete.tmpl",
        ),
    ] = ""
    interval: Annotated[Period, key("Seconds between two checks of a group.")] = 60
    send_interval: Annotated[
        int | None,
        key("Seconds between two messages about a group.", default="as interval", example="60"),
    ] = None
    threshold: Annotated[int, key("Lowest status to notify about: 1 OK, 2 WARN, 3 ERR.")] = 2
    send_close: Annotated[bool, key("Send a message when a group is good again.")] = False
    send_once: Annotated[bool, key("Send one message per incident, not one per interval.")] = False
    extras: Annotated[
        FrozenMap[str],
        key("Free values for the templates.", example='{ api_key = "REDACTED", app = "burrow" }'),
    ] = FrozenMap()
    max_per_minute: Annotated[
        NonNegative | None,
        key(
            "Warren's own. At most this many messages a minute; if more groups wait, a digest "
            "lists them. 0 is no limit.",
            default="20; `http`: 0",
            example="20",
        ),
    ] = None
    lag_above: Annotated[
        NonNegative | None,
        key(
            "Warren's own. Notify also when a lag is above this many messages.",
            default="off",
            example="10000",
        ),
    ] = None
    lag_growing_for: Annotated[
        Seconds,
        key(
            "Warren's own. Notify also when a lag has been growing for this many seconds; if "
            "lag-above is set too, both must hold. 0 is off.",
            example="900",
        ),
    ] = 0
    lag_groups: Annotated[
        Regexp,
        key(
            "Warren's own. Watch the lag of groups whose name matches; all if empty.",
            example="^important-",
        ),
    ] = ""
    lag_topics: Annotated[
        Regexp,
        key(
            "Warren's own. Watch each topic whose name matches separately; if empty, the lag of "
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
    """The keys of all classes that send HTTP requests."""

    timeout: Annotated[Period, key("Time-out of the whole request, seconds.")] = 5
    keepalive: Annotated[int, key("TCP keep-alive, seconds.")] = 300
    disable_http_keepalive: Annotated[bool, key("Open a new connection for every message.")] = False
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
        """Without a limit, as in Burrow: its receivers expect one message per group."""
        return self.max_per_minute or NO_LIMIT


class SlackNotifier(OverHttp, frozen=True, kw_only=True):
    webhook_url: Annotated[
        Secret,
        key(
            "Slack's incoming webhook; anyone who has it can post to the channel.",
            example="https://hooks.slack.com/services/T000/B000/XXXX",
        ),
    ]


class AlertmanagerNotifier(OverHttp, frozen=True, kw_only=True):
    url: Annotated[Url, key("URL of Alertmanager.", example="http://alertmanager.example.com:9093")]


class EmailNotifier(Notifier, frozen=True, kw_only=True):
    server: Annotated[Host, key("SMTP server.", example="mail.example.com")]
    port: Annotated[Port, key("Its port; 465 means TLS from the start.", example="587")]
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
