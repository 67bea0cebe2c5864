"""The configuration as Burrow shows it, `/v3/config/…`: made once, before the workers start.

Credentials that Burrow shows in URLs and in `extra` are masked.
"""

from collections.abc import Mapping

from warren.config import (
    Cluster,
    Config,
    Consumer,
    EmailNotifier,
    HttpNotifier,
    Notifier,
    Storage,
    Tls,
)
from warren.config.secrets import MASK, is_secretive, masked_url
from warren.serve.http.answers import Answer, Request
from warren.serve.http.site import Site

Shape = dict[str, object]


def main_answers(config: Config) -> Shape:
    general, logging, zookeeper = config.general, config.logging, config.zookeeper
    return {
        "general": {
            "pidfile": general.pidfile,
            "stdout-logfile": general.stdout_logfile,
            "access-control-allow-origin": general.access_control_allow_origin,
        },
        "logging": {
            "filename": logging.filename,
            "max-size": logging.maxsize,
            "max-backups": logging.maxbackups,
            "max-age": logging.maxage,
            "use-local-time": logging.use_localtime,
            "use-compression": logging.use_compression,
            "level": logging.level,
        },
        "zookeeper": {
            "servers": zookeeper.servers if zookeeper else None,
            "timeout": zookeeper.timeout if zookeeper else 0,
            "root-path": zookeeper.root_path if zookeeper else "",
        },
        "httpserver": {
            name: {"address": server.address, "tls": server.tls, "timeout": server.timeout}
            for name, server in sorted(config.httpservers.items())
        },
    }


def module_answers(config: Config) -> dict[str, dict[str, Shape]]:
    storage, evaluator = config.storage, config.evaluator
    return {
        "storage": {storage.name: _storage(storage)},
        "evaluator": {
            evaluator.name: {
                "class-name": evaluator.class_name,
                "expire-cache": evaluator.expire_cache,
            }
        },
        "cluster": {name: _cluster(config, each) for name, each in config.clusters.items()},
        "consumer": {name: _consumer(config, each) for name, each in config.consumers.items()},
        "notifier": {name: _notifier(each) for name, each in config.notifiers.items()},
    }


def _storage(storage: Storage) -> Shape:
    return {
        "class-name": storage.class_name,
        "intervals": storage.intervals,
        "min-distance": storage.min_distance,
        "group-allowlist": storage.group_allowlist,
        "expire-group": storage.expire_group,
    }


def _cluster(config: Config, cluster: Cluster) -> Shape:
    return {
        "class-name": cluster.class_name,
        "servers": cluster.servers,
        "client-profile": _profile(config, cluster),
        "topic-refresh": cluster.topic_refresh,
        "offset-refresh": cluster.offset_refresh,
    }


def _consumer(config: Config, consumer: Consumer) -> Shape:
    is_kafka, is_admin = (consumer.class_name == each for each in ("kafka", "kafka_admin"))
    return {
        "class-name": consumer.class_name,
        "cluster": consumer.cluster,
        "servers": consumer.servers,
        "group-allowlist": consumer.group_allowlist,
        "zookeeper-path": consumer.zookeeper_path,
        "zookeeper-timeout": 0 if is_kafka or is_admin else consumer.zookeeper_timeout,
        "client-profile": _profile(config, consumer),
        "offsets-topic": consumer.offsets_topic if is_kafka else "",
        "start-latest": consumer.start_latest,
    }


def _profile(config: Config, module: Cluster | Consumer) -> Shape:
    connection = config.connection(module)
    sasl = connection.sasl
    return {
        "name": module.client_profile,
        "client-id": connection.profile.client_id,
        "kafka-version": connection.profile.kafka_version,
        "tls": _tls(connection.tls) if connection.tls else None,
        "sasl": {
            "name": sasl.name,
            "handshake-first": sasl.handshake_first,
            "username": sasl.username,
        }
        if sasl
        else None,
    }


def _tls(tls: Tls) -> Shape:
    return {
        "name": tls.name,
        "noverify": tls.noverify,
        "certfile": tls.certfile,
        "keyfile": tls.keyfile,
        "cafile": tls.cafile,
    }


def _notifier(notifier: Notifier) -> Shape:
    shape: Shape = {
        "class-name": notifier.class_name,
        "group-allowlist": notifier.group_allowlist,
        "interval": notifier.interval,
        "threshold": notifier.threshold,
    }
    if isinstance(notifier, HttpNotifier):
        shape |= {
            "timeout": notifier.timeout,
            "keepalive": notifier.keepalive,
            "url-open": masked_url(notifier.url_open),
            "url-close": masked_url(notifier.url_close),
            "method-open": notifier.method_open,
            "method-close": notifier.method_close,
        }
    shape |= {
        "template-open": notifier.template_open,
        "template-close": notifier.template_close,
        "extra": _extra(notifier.extras),
        "send-close": notifier.send_close,
    }
    if isinstance(notifier, EmailNotifier):
        shape |= {
            "server": notifier.server,
            "port": notifier.port,
            "auth-type": notifier.auth_type,
            "username": notifier.username,
            "from": notifier.sender,
            "to": notifier.to,
        }
    if isinstance(notifier, HttpNotifier | EmailNotifier):
        # Burrow gives `noverify` as text.
        shape |= {"extra-ca": notifier.extra_ca, "noverify": "true" if notifier.noverify else ""}
    return shape


def _extra(extras: Mapping[str, str]) -> dict[str, str]:
    return {
        name: MASK if is_secretive(name) else masked_url(extras[name]) for name in sorted(extras)
    }


def main(site: Site, request: Request) -> Answer:
    return site.json_request_first(request, "main config returned", **site.settings.main)


def cluster(site: Site, request: Request, name: str) -> Answer:
    return module("cluster", site, request, name)


def modules(kind: str, site: Site, request: Request) -> Answer:
    names = sorted(site.settings.modules[kind])
    return site.json_request_first(request, "module list returned", coordinator=kind, modules=names)


def module(kind: str, site: Site, request: Request, name: str) -> Answer:
    found = site.settings.modules[kind].get(name.lower())
    if found is None:
        return site.problem(request, 404, f"{kind} module not found")
    return site.json(request, 200, f"{kind} module detail returned", module=found)
