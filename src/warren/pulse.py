"""Feels every two seconds whether a cluster's brokers answer: each is asked for one log end.

The rounds of the `Watcher` find out as well, but later: they ask for more, and wait longer for it.
"""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

import structlog
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from warren.clients.complaints import Complaints
from warren.cluster import Cluster
from warren.errors import Unreachable
from warren.sources.log_ends import LATEST, Partition, Topics

log = structlog.get_logger()

PULSE_S = 2.0
ANSWER_S = 4.0  # who gives none in this time, twice, is silent
SILENT = "nothing came in time"


class Pulse:
    def __init__(
        self,
        cluster: Cluster,
        admin: Callable[[], AdminClient],
        complaints: Complaints,
        changed: Callable[[], None],
    ) -> None:
        self._cluster = cluster
        self._admin = admin
        self._complaints = complaints
        self._changed = changed
        self._told = ""  # the problem, in our words
        self._topics: Topics | None = None  # of which these are
        self._one_of_each: Mapping[int, Partition] = {}
        self._log = log.bind(
            type="module", coordinator="cluster", class_="kafka", name=cluster.name
        )

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(PULSE_S):
            self._feel()

    def _feel(self) -> None:
        """Ask every leader; those that are silent once more, as we may have been busy ourselves."""
        asked = self._leaders()
        if not asked:
            return
        silent = self._silent(asked)
        silent = self._silent({broker: asked[broker] for broker in silent}) if silent else silent
        if len(silent) == len(asked):
            self._tell_silence()
            return
        if self._told:
            self._tell_answer()
        self._tell_some(silent, asked.keys() - silent)

    def _leaders(self) -> Mapping[int, Partition]:
        """A partition of each broker that leads any; looked for once in each listing of topics."""
        topics = self._cluster.topics
        if topics is not self._topics:
            self._topics = topics
            leaders = topics.leaders if topics else {}
            self._one_of_each = {broker: where for where, broker in leaders.items()}
        return self._one_of_each

    def _silent(self, asked: Mapping[int, Partition]) -> set[int]:
        admin = self._admin()
        answers = {
            broker: admin.list_offsets({TopicPartition(*where): LATEST}, request_timeout=ANSWER_S)
            for broker, where in asked.items()
        }
        return {
            broker for broker, each in answers.items() if not any(map(_is_answer, each.values()))
        }

    def _tell_silence(self) -> None:
        if self._cluster.problem:
            return
        self._admin().poll(0)  # brings the reason, such as a connection that is refused
        self._told = str(Unreachable(self._complaints.last or SILENT))
        self._cluster.problem = self._told
        self._log.error("brokers do not answer", problem=self._told)
        self._changed()

    def _tell_answer(self) -> None:
        if self._cluster.problem == self._told:
            self._cluster.problem = ""
            self._log.info("brokers answer again")
            self._changed()
        self._told = ""

    def _tell_some(self, silent: set[int], answering: set[int]) -> None:
        """Of brokers that are silent while others answer; one that leads nothing is not asked."""
        before = set(self._cluster.silent_brokers)
        if silent == before:
            return
        if new := sorted(silent - before):
            self._log.warning("some brokers do not answer", brokers=new)
        if back := sorted(before & answering):
            self._log.info("these brokers answer again", brokers=back)
        self._cluster.silent_brokers = sorted(silent)
        self._changed()


def _is_answer(asked: Future[Any]) -> bool:
    """Whatever it says: librdkafka's own errors are below 0, and so is an offset nobody gave."""
    try:
        offset: int = asked.result(2 * ANSWER_S).offset
    except KafkaException as error:
        code: int = error.args[0].code()
        return code >= 0
    except TimeoutError:
        return False
    return offset >= 0
