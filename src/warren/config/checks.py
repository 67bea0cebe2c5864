"""What only the whole configuration can tell: names that refer to nothing, files that are missing.

Strict where Burrow would crash, fail or silently lose something; what Burrow accepts and can use,
starts.
"""

from collections.abc import Iterable, Iterator

from warren.config import certificates
from warren.config.config import Config
from warren.config.findings import Findings
from warren.config.kinds import OF_KAFKA
from warren.config.notifier_checks import check_notifier
from warren.config.secrets import shown
from warren.config.sections import ClientProfile, Tls
from warren.config.sink_checks import check_sink
from warren.config.sinks import HttpSink


def check(config: Config, findings: Findings) -> None:
    check_servers(config, findings)
    check_references(config, findings)
    for profile in config.client_profiles.values():
        check_profile(profile, config, findings)
    for tls in config.tls.values():
        check_tls(tls, findings)
    for name, server in config.httpservers.items():
        path = f"httpserver.{name}.client-cafile"
        findings.can_use(path, server.client_cafile, certificates.certificates)
    for notifier in config.notifiers.values():
        check_notifier(notifier, findings)
    for sink in config.sinks.values():
        check_sink(sink, config.tls, findings)


def idle_sections(config: Config) -> dict[str, str]:
    """Name the sections that nothing uses, with the reason: Burrow never looks into them."""
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
            if not module.servers:
                findings.refuse(f"{kind}.{name}.servers", "is empty; must name a server at least")
    for name, consumer in config.consumers.items():
        if consumer.class_name == "storm" and not consumer.zookeeper_path:
            path = f"consumer.{name}.zookeeper-path"
            findings.refuse(path, "missing; must be the zkRoot of Storm's spouts, such as /storm")
    check_lock(config, findings)


def check_lock(config: Config, findings: Findings) -> None:
    """What decides who notifies must be there to decide."""
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
        findings.can_use(f"{path}.certfile", tls.certfile, certificates.certificates),
        findings.can_use(f"{path}.keyfile", tls.keyfile, certificates.private_key),
    ]
    findings.can_use(f"{path}.cafile", tls.cafile, certificates.certificates)
    if tls.certfile and not tls.keyfile:
        findings.refuse(f"{path}.keyfile", "missing; a certfile needs its keyfile")
    elif tls.keyfile and not tls.certfile:
        findings.refuse(f"{path}.certfile", "missing; a keyfile needs its certfile")
    elif tls.certfile and all(usable) and not certificates.are_pair(tls.certfile, tls.keyfile):
        certfile = shown(tls.certfile)
        text = f"is not the key of the certificate in {certfile}; must be a PEM file of that key"
        findings.refuse_value(f"{path}.keyfile", shown(tls.keyfile), text)


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
        if consumer.class_name in OF_KAFKA:
            yield f"consumer.{name}.client-profile", consumer.client_profile


def _profile_names(config: Config) -> Iterator[str]:
    return (name for _, name in _profile_references(config))
