"""Every path that is answered, and by what."""

from functools import partial

from warren.serve import admin, dashboard, v2, v3, v3_config
from warren.serve.routes import Handler
from warren.serve.scrape import scrape
from warren.serve.v4 import described
from warren.serve.v4.events import events
from warren.serve.v4.operations import OPERATIONS, handler

KINDS = ("storage", "evaluator", "cluster", "consumer", "notifier")


TABLE: dict[tuple[str, str], Handler] = {
    ("GET", "/"): dashboard.page,
    ("GET", "/page/{}/{}"): dashboard.asset,
    ("GET", "/burrow/admin"): admin.good,
    ("GET", "/burrow/admin/ready"): admin.ready,
    ("GET", "/v3/kafka"): v3.clusters,
    ("GET", "/v3/kafka/{}"): v3_config.cluster,
    ("GET", "/v3/kafka/{}/topic"): v3.topics,
    ("GET", "/v3/kafka/{}/topic/{}"): v3.topic,
    ("GET", "/v3/kafka/{}/topic/{}/consumers"): v3.groups_of_topic,
    ("GET", "/v3/kafka/{}/consumer"): v3.groups,
    ("GET", "/v3/kafka/{}/consumer/{}"): v3.group,
    ("GET", "/v3/kafka/{}/consumer/{}/status"): v3.status,
    ("GET", "/v3/kafka/{}/consumer/{}/lag"): v3.lag,
    ("DELETE", "/v3/kafka/{}/consumer/{}"): v3.delete_group,
    ("DELETE", "/v3/kafka/{}/consumer/{}/topic/{}"): v3.delete_topic_of_group,
    ("GET", "/v3/config"): v3_config.main,
    **{("GET", f"/v3/config/{kind}"): partial(v3_config.modules, kind) for kind in KINDS},
    **{("GET", f"/v3/config/{kind}/{{}}"): partial(v3_config.module, kind) for kind in KINDS},
    ("GET", "/v3/admin/loglevel"): admin.get_level,
    ("POST", "/v3/admin/loglevel"): admin.set_level,
    ("GET", "/metrics"): scrape,
    ("GET", "/v2/kafka"): v2.clusters,
    ("GET", "/v2/kafka/{}"): v2.cluster,
    ("GET", "/v2/kafka/{}/topic"): v2.topics,
    ("GET", "/v2/kafka/{}/topic/{}"): v2.topic,
    ("GET", "/v2/kafka/{}/consumer"): v2.groups,
    ("GET", "/v2/kafka/{}/consumer/{}/topic"): v2.group_topics,
    ("GET", "/v2/kafka/{}/consumer/{}/topic/{}"): v2.group_topic,
    ("GET", "/v2/kafka/{}/consumer/{}/status"): v2.status,
    ("GET", "/v2/kafka/{}/consumer/{}/lag"): v2.lag,
    ("GET", "/v4/health"): admin.health,
    ("GET", "/v4/config"): admin.config,
    ("GET", "/v4/events"): events,
    ("GET", "/v4/openapi.json"): described.openapi,
    ("GET", "/v4/docs"): described.docs,
    **{("GET", operation.path): handler(operation) for operation in OPERATIONS},
}
