"""Checks that need the whole configuration: references between sections, and the files it names.

Strict where Burrow would crash, fail or silently lose something. A configuration that Burrow
accepts and can use starts Warren too.
"""
# ruff: noqa: PLC0415  # `cryptography` is imported when a file is checked: it takes 10 MB

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from warren.config import keys
from warren.config.config import OF_KAFKA, Config
from warren.config.findings import Findings
from warren.config.modules import CheckpointConsumer, ServerlessConsumer
from warren.config.notifiers import (
    AlertmanagerNotifier,
    EmailNotifier,
    HttpNotifier,
    Notifier,
    OverHttp,
    SlackNotifier,
)
from warren.config.policy_sections import SilenceSettings, read_moment
from warren.config.secrets import shown
from warren.config.sections import ClientProfile, Tls
from warren.config.sinks import ElasticsearchSink, FilesSink, HttpSink, InfluxdbSink, Sink

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes


def certificates(file: str) -> "list[x509.Certificate]":
    """Read a PEM file of certificates; raises ValueError with the reason."""
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificates(_bytes(file))
    except ValueError as error:
        reason = _reason(error, "holds no certificates in PEM form")
        raise ValueError(f"{reason}; must be a PEM file of certificates") from error


def private_key(file: str) -> "PrivateKeyTypes":
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        return load_pem_private_key(_bytes(file), password=None)
    except TypeError as error:
        reason = "is protected by a password"
        raise ValueError(f"{reason}; must be a PEM file of a private key without one") from error
    except ValueError as error:
        reason = _reason(error, "holds no private key in PEM form")
        raise ValueError(f"{reason}; must be a PEM file of a private key") from error


def are_pair(certfile: str, keyfile: str) -> bool:
    """Say whether the key belongs to the first certificate; both files must be readable."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

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


def check_sink(sink: Sink, tls: Mapping[str, Tls], findings: Findings) -> None:
    path = f"sink.{sink.name}"
    match sink:
        case InfluxdbSink():
            _check_influxdb(path, sink, findings)
        case ElasticsearchSink():
            _check_sink_login(path, sink, "api-key" if sink.api_key else "", findings)
        case FilesSink() if not sink.directory:
            findings.refuse(f"{path}.directory", "is empty; must be a directory or a URL")
    if isinstance(sink, HttpSink) and sink.tls and sink.tls not in tls:
        allowed = ", ".join(sorted(tls)) or "none, as there is no [tls.NAME] section"
        problem = f"names no tls section; must be one of: {allowed}"
        findings.refuse_value(f"{path}.tls", shown(sink.tls), problem)


def _check_influxdb(path: str, sink: InfluxdbSink, findings: Findings) -> None:
    if not sink.database and not sink.bucket:
        text = "missing; name a database (InfluxDB 1.x) or a bucket (InfluxDB 2 and 3)"
        findings.refuse(f"{path}.database", text)
    if sink.database and sink.bucket:
        text = "cannot be set with database; bucket is for InfluxDB 2 and 3, database for 1.x"
        findings.refuse(f"{path}.bucket", text)
    if sink.bucket and sink.username:
        text = "cannot be set with bucket; a bucket needs a token instead"
        findings.refuse(f"{path}.username", text)
    if sink.database and sink.org:
        findings.refuse(
            f"{path}.org", "cannot be set with database; only a bucket has an organisation"
        )
    _check_sink_login(path, sink, "token" if sink.token else "", findings)


def _check_sink_login(path: str, sink: HttpSink, instead: str, findings: Findings) -> None:
    if instead and (sink.username or sink.password):
        findings.refuse(
            f"{path}.{instead}", "cannot be set with username or password; log in with one of them"
        )
    if sink.password and not sink.username:
        findings.refuse(f"{path}.username", "missing; a password needs a user name")


# Burrow's own classes, which need a template; Warren's own have one built in.
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
        findings.can_use(f"{path}.extra-ca", notifier.extra_ca, certificates)


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
        keys.url(notifier.webhook_url.reveal())
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


def check(config: Config, findings: Findings) -> None:
    check_servers(config, findings)
    check_references(config, findings)
    for profile in config.client_profiles.values():
        check_profile(profile, config, findings)
    for tls in config.tls.values():
        check_tls(tls, findings)
    for name, server in config.httpservers.items():
        path = f"httpserver.{name}.client-cafile"
        findings.can_use(path, server.client_cafile, certificates)
    for notifier in config.notifiers.values():
        check_notifier(notifier, findings)
    for sink in config.sinks.values():
        check_sink(sink, config.tls, findings)
    # A file of policies alone, for a back-test, is not about notifiers.
    has_notifiers = config.clusters or config.notifiers
    for policy in config.policies.values() if has_notifiers else ():
        for name in policy.notify or ():
            path = f"policy.{policy.name}.notify"
            _check_name(path, name, "notifier", config.notifiers, findings)
    for silence in config.silences.values():
        check_silence(silence, findings)


def check_silence(silence: SilenceSettings, findings: Findings) -> None:
    path = f"silence.{silence.name}.end"
    if not silence.end and not silence.hours:
        findings.refuse(path, "missing; a silence needs an end, or hours")
    begin_s, end_s = (read_moment(each) if each else None for each in (silence.begin, silence.end))
    if begin_s is not None and end_s is not None and end_s <= begin_s:
        findings.refuse_value(path, shown(silence.end), "is not after begin")


def idle_sections(config: Config) -> dict[str, str]:
    """List the sections that nothing uses, with the reason: Burrow never reads them."""
    profiles = set(_profile_names(config))
    used = [config.client_profiles[name] for name in profiles if name in config.client_profiles]
    servers = [*config.httpservers.values(), *([config.zookeeper] if config.notifiers else [])]
    sinks = [sink for sink in config.sinks.values() if isinstance(sink, HttpSink)]
    names = {
        "client-profile": (config.client_profiles, profiles),
        "tls": (config.tls, {user.tls for user in [*used, *servers, *sinks] if user}),
        "sasl": (config.sasl, {profile.sasl for profile in used}),
        "iam": (config.iam, {profile.iam for profile in used}),
    }
    idle = {
        f"{kind}.{name}": "nothing refers to this section"
        for kind, (sections, referred) in names.items()
        for name in sections
        if name not in referred
    }
    return idle if config.notifiers else {**idle, "zookeeper": "there is no notifier"}


def check_servers(config: Config, findings: Findings) -> None:
    for kind, modules in (("cluster", config.clusters), ("consumer", config.consumers)):
        for name, module in modules.items():
            if not module.servers and not isinstance(module, ServerlessConsumer):
                findings.refuse(f"{kind}.{name}.servers", "is empty; must name at least one server")
    for name, consumer in config.consumers.items():
        if consumer.class_name == "storm" and not consumer.zookeeper_path:
            path = f"consumer.{name}.zookeeper-path"
            findings.refuse(path, "missing; must be the zkRoot of Storm's spouts, such as /storm")
        if isinstance(consumer, CheckpointConsumer) and not all(consumer.locations or [""]):
            path = f"consumer.{name}.locations"
            findings.refuse(path, "is empty; must name directories with checkpoints")
    check_lock(config, findings)


def check_lock(config: Config, findings: Findings) -> None:
    """Check that the lock for notifications has what it needs."""
    lock, cluster = config.general.notifier_lock, config.general.notifier_cluster
    if not config.notifiers:
        return
    if lock == "zookeeper" and not (config.zookeeper and config.zookeeper.servers):
        path = "general.notifier-lock"
        findings.refuse_value(path, shown(lock), "needs servers; set zookeeper.servers")
    if lock == "kafka" and cluster:
        _check_name("general.notifier-cluster", cluster, "cluster", config.clusters, findings)
    if lock == "kafka" and not config.clusters:
        path = "general.notifier-lock"
        findings.refuse_value(path, shown(lock), "needs a cluster; add a [cluster.NAME] section")


def check_references(config: Config, findings: Findings) -> None:
    for name, consumer in config.consumers.items():
        path = f"consumer.{name}.cluster"
        _check_name(path, consumer.cluster, "cluster", config.clusters, findings)
    for path, profile in _profile_references(config):
        if profile:
            _check_name(path, profile, "client-profile", config.client_profiles, findings)
    for name, server in config.httpservers.items():
        if server.tls:
            _require(config, f"httpserver.{name}.tls", server.tls, "certfile keyfile", findings)
        if server.client_cafile and not server.tls:
            path = f"httpserver.{name}.client-cafile"
            findings.refuse(path, "needs TLS; set tls in the same section")
    if config.notifiers and config.zookeeper and config.zookeeper.tls:
        _require(config, "zookeeper.tls", config.zookeeper.tls, "cafile", findings)


def check_profile(profile: ClientProfile, config: Config, findings: Findings) -> None:
    path = f"client-profile.{profile.name}"
    if profile.tls and profile.tls not in config.tls:
        text = f"there is no section [tls.{profile.tls}]; connecting with the system's certificates"
        findings.warn(f"{path}.tls", text)
    if profile.iam:
        _check_name(f"{path}.iam", profile.iam, "iam", config.iam, findings)
        iam = config.iam.get(profile.iam)
        if iam and not iam.region:
            findings.refuse(f"iam.{profile.iam}.region", "missing; IAM needs the AWS region")
        if not profile.tls:
            findings.refuse(f"{path}.iam", f"{profile.iam!r} needs TLS; set {path}.tls")
    elif profile.sasl:
        _check_name(f"{path}.sasl", profile.sasl, "sasl", config.sasl, findings)
        _check_login(profile.sasl, config, findings)


def _check_login(name: str, config: Config, findings: Findings) -> None:
    sasl = config.sasl.get(name)
    if sasl and not sasl.username:
        findings.refuse(f"sasl.{name}.username", "missing; logging in needs a user name")
    if sasl and not sasl.password:
        findings.refuse(f"sasl.{name}.password", "missing; logging in needs a password")
    if sasl and sasl.mechanism == "OAUTHBEARER" and not sasl.token_url:
        text = "missing; OAUTHBEARER needs the URL that gives tokens"
        findings.refuse(f"sasl.{name}.token-url", text)


def check_tls(tls: Tls, findings: Findings) -> None:
    path = f"tls.{tls.name}"
    usable = [
        findings.can_use(f"{path}.certfile", tls.certfile, certificates),
        findings.can_use(f"{path}.keyfile", tls.keyfile, private_key),
    ]
    findings.can_use(f"{path}.cafile", tls.cafile, certificates)
    if tls.certfile and not tls.keyfile:
        findings.refuse(f"{path}.keyfile", "missing; a certfile needs its keyfile")
    elif tls.keyfile and not tls.certfile:
        findings.refuse(f"{path}.certfile", "missing; a keyfile needs its certfile")
    elif tls.certfile and all(usable) and not are_pair(tls.certfile, tls.keyfile):
        certfile = shown(tls.certfile)
        text = f"is not the key of the certificate in {certfile}; must be a PEM file of that key"
        findings.refuse_value(f"{path}.keyfile", shown(tls.keyfile), text)


def _check_name(path: str, name: str, kind: str, known: Iterable[str], findings: Findings) -> None:
    if name in known:
        return
    allowed = ", ".join(sorted(known)) or f"none, as there is no [{kind}.NAME] section"
    findings.refuse_value(path, shown(name), f"names no {kind} section; must be one of: {allowed}")


def _require(config: Config, path: str, name: str, files: str, findings: Findings) -> None:
    """Refuse a `tls` section, which the key at PATH names, if it lacks one of these files."""
    tls = config.tls.get(name, Tls())
    missing = [file for file in files.split() if not getattr(tls, file)]
    if missing:
        problem = f"cannot be used here: [tls.{name}] has no {' and no '.join(missing)}"
        findings.refuse_value(path, shown(name), problem)


def _profile_references(config: Config) -> Iterator[tuple[str, str]]:
    """Yield every key that names a client profile, and the name; for ZooKeeper there is none."""
    for name, cluster in config.clusters.items():
        yield f"cluster.{name}.client-profile", cluster.client_profile
    for name, consumer in config.consumers.items():
        if consumer.class_name in OF_KAFKA:
            yield f"consumer.{name}.client-profile", consumer.client_profile


def _profile_names(config: Config) -> Iterator[str]:
    return (name for _, name in _profile_references(config))
