"""The index template: Telegraf's, with types that the fields can be searched and summed by."""

import re
from typing import Any

from warren.sinks.points import COUNTS, MEASUREMENTS, TAGS

PRIORITY = 200  # above those that come with the servers


def template_name(index: str) -> str:
    return f"warren-{_prefix(index).strip('-._') or 'lag'}"


def template(index: str) -> dict[str, Any]:
    """The body of the older `_template`; the newer one nests it."""
    return {
        "index_patterns": [f"{_prefix(index)}*"],
        "settings": {
            "index": {
                "codec": "best_compression",
                "refresh_interval": "10s",
                "auto_expand_replicas": "0-1",
                "mapping": {"total_fields": {"limit": "5000"}},
            }
        },
        "mappings": {
            "dynamic_templates": [
                {
                    "tags": {
                        "path_match": "tag.*",
                        "match_mapping_type": "string",
                        "mapping": {"ignore_above": 512, "type": "keyword"},
                    }
                }
            ],
            "properties": {
                "@timestamp": {"type": "date"},
                "measurement_name": {"type": "keyword"},
                "tag": {
                    "properties": {tag: {"type": "keyword", "ignore_above": 512} for tag in TAGS}
                },
                **{name: {"properties": _fields()} for name in MEASUREMENTS.values()},
            },
        },
    }


def nested(index: str) -> dict[str, Any]:
    """The body of `_index_template`, which servers know since Elasticsearch 7.8."""
    old = template(index)
    return {
        "index_patterns": old.pop("index_patterns"),
        "priority": PRIORITY,
        "template": old,
        "_meta": {"description": "made by Warren"},
    }


def _fields() -> dict[str, Any]:
    numbers: dict[str, Any] = {name: {"type": "long"} for name in COUNTS}
    return {
        **numbers,
        "timestamp": {"type": "date", "format": "epoch_millis"},
        "status": {"type": "keyword"},
        "status_code": {"type": "byte"},
    }


def _prefix(index: str) -> str:
    """What all names of the indices begin with."""
    return re.split("%", index, maxsplit=1)[0]
