"""Reads how long brokers keep records and offsets, for the topics that groups read.

Each topic every ten minutes, a request a second at most. Without the right to read configurations
the retention is unknown, which is logged once.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog
from confluent_kafka.admin import AdminClient

from warren.model.topic_facts import TopicFacts
from warren.pipeline.cluster import ClusterState
from warren.sources import log_ends, topic_configs
from warren.windows.window_reader import read_topics

if TYPE_CHECKING:
    from uuid import UUID

CONFIGS_S = 600.0  # between two reads of a configuration
TOPICS_S = 10.0  # between two looks for topics that are new
SILENT_S = 30.0  # after brokers did not answer


class RetentionReader:
    def __init__(self, cluster: ClusterState, logger: structlog.stdlib.BoundLogger) -> None:
        self._cluster = cluster
        self._log = logger
        self._due: list[str] = []
        self._listed_s = self._brokers_s = self._silent_s = -CONFIGS_S
        self._asked: dict[str, tuple[float, UUID | None]] = {}  # when, and which topic it was
        self._problem = ""  # as it was logged

    def refresh(self, admin: AdminClient) -> None:
        now = time.monotonic()
        if now - self._silent_s < SILENT_S:
            return
        if now - self._listed_s >= TOPICS_S:
            self._listed_s = now
            self._list_due(now)
        some, self._due = self._due[: topic_configs.AT_ONCE], self._due[topic_configs.AT_ONCE :]
        if some:
            self._read_topics(admin, some, now)
        if now - self._brokers_s >= CONFIGS_S:
            self._brokers_s = now
            self._read_broker(admin)

    def _list_due(self, now: float) -> None:
        cluster = self._cluster
        ids = cluster.topics.ids if cluster.topics else {}
        with cluster.lock:
            read = read_topics(cluster.windows)
        self._asked = {name: self._asked[name] for name in read if name in self._asked}
        never = (-CONFIGS_S, None)
        self._due = []
        for name in read:
            asked_s, identity = self._asked.get(name, never)
            if now - asked_s >= CONFIGS_S or identity != ids.get(name):
                self._due.append(name)
        gone = (cluster.facts.topics.keys() | cluster.facts.problems.keys()) - {*read}
        if gone:
            self._publish(dict.fromkeys(gone), {})

    def _read_topics(self, admin: AdminClient, names: list[str], now: float) -> None:
        configs = topic_configs.fetch_topic_facts(admin, names, log_ends.TIMEOUT_S)
        ids = self._cluster.topics.ids if self._cluster.topics else {}
        if configs.is_silent:
            self._silent_s = now
        else:
            self._asked |= {name: (now, ids.get(name)) for name in names}
        self._publish(configs.facts, configs.problems)
        problem = next(iter(configs.problems.values()), "")
        if problem and problem != self._problem:
            self._log.warning(
                "the retention of some topics is unknown",
                topics=len(configs.problems),
                topic=min(configs.problems),
                problem=problem,
            )
            self._problem = problem

    def _publish(self, found: Mapping[str, TopicFacts | None], problems: Mapping[str, str]) -> None:
        """Replace the facts of these topics; None: it is not read any more."""
        facts = self._cluster.facts
        topics = {name: each for name, each in facts.topics.items() if name not in found}
        topics |= {name: each for name, each in found.items() if each is not None}
        why = {name: each for name, each in facts.problems.items() if name not in found}
        self._cluster.facts = replace(facts, topics=topics, problems=why | {**problems})

    def _read_broker(self, admin: AdminClient) -> None:
        leaders = self._cluster.topics.leaders if self._cluster.topics else {}
        if not leaders:
            return
        broker = next(iter(leaders.values()))
        found = topic_configs.fetch_offsets_retention_s(admin, broker, log_ends.TIMEOUT_S)
        retention_s, problem = found
        facts = self._cluster.facts
        if problem and not facts.offsets_problem:
            self._log.warning("it is unknown when unused offsets expire", problem=problem)
        self._cluster.facts = replace(
            facts, offsets_retention_s=retention_s, offsets_problem=problem
        )
