"""What only the whole configuration can tell: names that refer to nothing, files that are missing.

Strict where Burrow would crash, fail or silently lose something; what Burrow accepts and can use,
starts.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from warren.config import certificates
from warren.config.config import Config
from warren.config.findings import Findings
from warren.config.notifiers import EmailNotifier, HttpNotifier, Notifier
from warren.config.secrets import shown
from warren.config.sections import ClientProfile, Tls

# Burrow's own classes, which can do nothing without a template; ours bring theirs.
_TEMPLATED = {"http", "email", "null"}


def check(config: Config, findings: Findings) -> None:
    check_servers(config, findings)
    check_references(config, findings)
    for profile in config.client_profiles.values():
        check_profile(profile, config, findings)
    for tls in config.tls.values():
        check_tls(tls, findings)
    for name, server in config.httpservers.items():
        path = f"httpserver.{name}.client-cafile"
        _is_usable(path, server.client_cafile, certificates.certificates, findings)
    for notifier in config.notifiers.values():
        check_notifier(notifier, findings)


def idle_sections(config: Config) -> dict[str, str]:
    """Name the sections that nothing uses, with the reason: Burrow never looks into them."""
    profiles = set(_profile_names(config))
    used = [config.client_profiles[name] for name in profiles if name in config.client_profiles]
    servers = [*config.httpservers.values(), *([config.zookeeper] if config.notifiers else [])]
    names = {
        "client-profile": (config.client_profiles, profiles),
        "tls": (config.tls, {user.tls for user in [*used, *servers] if user}),
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
            if not module.servers:
                findings.refuse(f"{kind}.{name}.servers", "is empty; must name a server at least")
    if config.notifiers and not (config.zookeeper and config.zookeeper.servers):
        findings.refuse("zookeeper.servers", "missing; a notifier needs ZooKeeper servers")


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


def check_tls(tls: Tls, findings: Findings) -> None:
    path = f"tls.{tls.name}"
    usable = [
        _is_usable(f"{path}.certfile", tls.certfile, certificates.certificates, findings),
        _is_usable(f"{path}.keyfile", tls.keyfile, certificates.private_key, findings),
    ]
    _is_usable(f"{path}.cafile", tls.cafile, certificates.certificates, findings)
    if tls.certfile and not tls.keyfile:
        findings.refuse(f"{path}.keyfile", "missing; a certfile needs its keyfile")
    elif tls.keyfile and not tls.certfile:
        findings.refuse(f"{path}.certfile", "missing; a keyfile needs its certfile")
    elif tls.certfile and all(usable) and not certificates.are_pair(tls.certfile, tls.keyfile):
        certfile = shown(tls.certfile)
        text = f"is not the key of the certificate in {certfile}; must be a PEM file of that key"
        findings.refuse_value(f"{path}.keyfile", shown(tls.keyfile), text)


def check_notifier(notifier: Notifier, findings: Findings) -> None:
    path = f"notifier.{notifier.name}"
    if notifier.class_name in _TEMPLATED:
        _check_template(f"{path}.template-open", notifier.template_open, findings)
        if notifier.send_close:
            _check_template(f"{path}.template-close", notifier.template_close, findings)
    if isinstance(notifier, HttpNotifier):
        if not notifier.url_open:
            findings.refuse(f"{path}.url-open", "missing; an http notifier needs a URL")
        if notifier.send_close and not notifier.url_close:
            findings.refuse(f"{path}.url-close", "missing; send-close needs a URL")
    if isinstance(notifier, EmailNotifier):
        for key, value in (("from", notifier.sender), ("to", notifier.to)):
            if not value:
                findings.refuse(f"{path}.{key}", "is empty; must be a mail address")
    if isinstance(notifier, HttpNotifier | EmailNotifier) and not notifier.noverify:
        _is_usable(f"{path}.extra-ca", notifier.extra_ca, certificates.certificates, findings)


def _check_template(path: str, file: str, findings: Findings) -> None:
    if not file:
        findings.refuse(path, "missing; must name a template file")
        return
    try:
        Path(file).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name with a null in it
        reason = error.strerror if isinstance(error, OSError) else error
        problem = f"cannot be read: {reason}; must be a template file"
        findings.refuse_value(path, shown(file), problem)


def _is_usable(path: str, file: str, read: Callable[[str], object], findings: Findings) -> bool:
    try:
        if file:
            read(file)
    except ValueError as error:
        findings.refuse_value(path, shown(file), str(error))
        return False
    return True


def _check_name(path: str, name: str, kind: str, known: Iterable[str], findings: Findings) -> None:
    if name in known:
        return
    allowed = ", ".join(sorted(known)) or f"none, as there is no [{kind}.NAME] section"
    findings.refuse_value(path, shown(name), f"names no {kind} section; must be one of: {allowed}")


def _require(config: Config, path: str, name: str, files: str, findings: Findings) -> None:
    """Refuse a `tls` section, named by PATH, that lacks one of the files needed here."""
    tls = config.tls.get(name, Tls())
    missing = [file for file in files.split() if not getattr(tls, file)]
    if missing:
        problem = f"will not do: [tls.{name}] has no {' and no '.join(missing)}"
        findings.refuse_value(path, shown(name), problem)


def _profile_references(config: Config) -> Iterator[tuple[str, str]]:
    """Yield every key that names a client profile, and the name; ZooKeeper needs none."""
    for name, cluster in config.clusters.items():
        yield f"cluster.{name}.client-profile", cluster.client_profile
    for name, consumer in config.consumers.items():
        if consumer.class_name == "kafka":
            yield f"consumer.{name}.client-profile", consumer.client_profile


def _profile_names(config: Config) -> Iterator[str]:
    return (name for _, name in _profile_references(config))
