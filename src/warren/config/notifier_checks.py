"""What a notifier's keys say together, and the files they name."""

import re
from collections.abc import Mapping
from pathlib import Path

from warren.config import addresses, certificates
from warren.config.findings import Findings
from warren.config.notifiers import (
    AlertmanagerNotifier,
    EmailNotifier,
    HttpNotifier,
    Notifier,
    OverHttp,
    SlackNotifier,
)
from warren.config.secrets import shown

# Burrow's own classes, which can do nothing without a template; ours bring theirs.
_TEMPLATED = {"http", "email", "null"}


def check_notifier(notifier: Notifier, findings: Findings) -> None:
    path = f"notifier.{notifier.name}"
    _check_templates(path, notifier, findings)
    match notifier:
        case HttpNotifier():
            _check_urls(path, notifier, findings)
        case EmailNotifier():
            _check_addresses(path, notifier, findings)
        case SlackNotifier():
            _check_webhook(f"{path}.webhook-url", notifier, findings)
        case AlertmanagerNotifier():
            _check_alerts(path, notifier, findings)
    if isinstance(notifier, OverHttp):
        _check_headers(f"{path}.headers", notifier.headers, findings)
    if isinstance(notifier, OverHttp | EmailNotifier) and not notifier.noverify:
        findings.can_use(f"{path}.extra-ca", notifier.extra_ca, certificates.certificates)


def _check_templates(path: str, notifier: Notifier, findings: Findings) -> None:
    is_templated = notifier.class_name in _TEMPLATED
    if is_templated or notifier.template_open:
        _check_template(f"{path}.template-open", notifier.template_open, findings)
    if notifier.send_close and (is_templated or notifier.template_close):
        _check_template(f"{path}.template-close", notifier.template_close, findings)


def _check_urls(path: str, notifier: HttpNotifier, findings: Findings) -> None:
    if not notifier.url_open:
        findings.refuse(f"{path}.url-open", "missing; an http notifier needs a URL")
    if notifier.send_close and not notifier.url_close:
        findings.refuse(f"{path}.url-close", "missing; send-close needs a URL")


def _check_addresses(path: str, notifier: EmailNotifier, findings: Findings) -> None:
    for key, value in (("from", notifier.sender), ("to", notifier.to)):
        if not value:
            findings.refuse(f"{path}.{key}", "is empty; must be a mail address")


def _check_webhook(path: str, notifier: SlackNotifier, findings: Findings) -> None:
    try:
        addresses.url(notifier.webhook_url.reveal())
    except ValueError as error:
        findings.refuse(path, f"is not allowed: {error}; must be the URL of an incoming webhook")


def _check_alerts(path: str, notifier: AlertmanagerNotifier, findings: Findings) -> None:
    for label in notifier.extras:
        if not re.fullmatch("[a-z_][a-z0-9_]*", label):
            text = "cannot be a label of an alert; must be letters, digits and underscores"
            findings.refuse_value(f"{path}.extras", shown(label), text)
    if notifier.send_once:
        text = "is not possible: Alertmanager forgets an alert that is not repeated"
        findings.refuse(f"{path}.send-once", text)


def _check_headers(path: str, headers: Mapping[str, str], findings: Findings) -> None:
    for name, value in headers.items():
        if not re.fullmatch("[!#$%&'*+.^_`|~0-9a-z-]+", name):
            findings.refuse_value(path, shown(name), "cannot be the name of a header")
        elif not value.isprintable():
            findings.refuse_value(path, shown(name), "has a value that cannot be in a header")


def _check_template(path: str, file: str, findings: Findings) -> None:
    if not file:
        findings.refuse(path, "missing; must name a template file")
        return
    try:
        Path(file).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name with a null in it
        reason = error.strerror if isinstance(error, OSError) else error
        problem = f"cannot be read: {reason}; must be a template file"
        if not Path(file).is_absolute():
            problem += f", relative to the working directory {Path.cwd()}"
        findings.refuse_value(path, shown(file), problem)
