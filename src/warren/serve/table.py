"""Every path that is answered, and by what."""

from functools import partial

from warren.serve import admin, v3, v3_config
from warren.serve.routes import Handler

KINDS = ("storage", "evaluator", "cluster", "consumer", "notifier")


TABLE: dict[tuple[str, str], Handler] = {
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
    ("GET", "/v4/health"): admin.health,
}
