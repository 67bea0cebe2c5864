"""From boards to messages: checks every cluster once a round and queues the messages due.

Of several instances only the leader does anything. An incident is saved before its notification is
sent, and the notification is saved as soon as a receiver took it: whoever takes over, or restarts,
goes on from there. Should an instance die between the two, that message is sent once more, with the
same id.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping

import structlog

from warren.config import Config
from warren.errors import LeadershipLost
from warren.leadership.leadership import Leadership
from warren.model.board import Board
from warren.model.health import RoundsHealth
from warren.model.silence import Silences
from warren.model.status import Status
from warren.notify.delivery import Delivery
from warren.notify.due_message import Beside, DueMessage
from warren.notify.incidents import (
    MOST_LATE,
    NOTHING,
    Policy,
    Record,
    confirm,
    dropped_closes,
    is_owed,
    trim,
)
from warren.notify.lag_rules import LagRule, LagWatch
from warren.notify.ledger import Ledger
from warren.notify.message import Sender, Subject
from warren.notify.rounds import CurrentCluster, CurrentClusters, NotifierRound, Presence
from warren.notify.routing import Routing, alarms
from warren.notify.silence_book import SilenceBook

log = structlog.get_logger()

SILENT_S = 300  # without a judgement, before we log it


class Silence:
    """Which clusters, or which consumers, could not be judged for some minutes."""

    def __init__(self, kind: str) -> None:
        self._log = log.bind(type="notifier", what=kind)
        self._judged_s: dict[str, float] = {}
        self.names: set[str] = set()

    def note(self, every: Iterable[str], judged: Iterable[str], now_s: float) -> None:
        """`judged`: the names, out of `every`, that can be judged now."""
        self._judged_s |= dict.fromkeys(judged, now_s)
        since = {name: self._judged_s.setdefault(name, now_s) for name in every}
        silent = {name for name, last_s in since.items() if now_s - last_s > SILENT_S}
        for name in sorted(silent - self.names):
            self._log.warning("cannot be read; no notifications about its groups", name=name)
        for name in sorted(self.names - silent):
            self._log.info("is read again", name=name)
        self.names = silent


POLL_S = 0.5
OLD_BOARD_MS = 30_000  # in addition to the age that any board may have
TOO_LATE = "not delivered for a day"
OVERTAKEN = "it would end a later incident whose opening was delivered"
TOO_MANY = f"{MOST_LATE} later closes of the group are not delivered either"
REPLY_S = 6.0  # for replies to messages in flight at shutdown; less than threads get to end


class Notifying:
    """Decides what to send; its deliveries send it."""

    kind = "incidents"
    name = "rounds"

    def __init__(
        self,
        config: Config,
        boards: Callable[[], Board],
        leadership: Leadership,
        senders: Mapping[str, Sender],
        silences: SilenceBook | None = None,
    ) -> None:
        self.problem = ""
        self.restarts = 0
        self._config = config
        self._silences = silences or SilenceBook(config)
        self._boards = boards
        self._leadership = leadership
        self._has_delivered = threading.Event()
        self.deliveries = [
            Delivery(
                name,
                senders[name],
                notifier.rate,
                lambda: leadership.leads,
                self._has_delivered.set,
            )
            for name, notifier in config.notifiers.items()
        ]
        self._by_name = {delivery.name: delivery for delivery in self.deliveries}
        self._round_s = min(notifier.interval for notifier in config.notifiers.values())
        round_ms = self._round_s * 1000
        self._policies = {
            name: Policy.of(notifier, round_ms) for name, notifier in config.notifiers.items()
        }
        self._rules = {name: LagRule.of(notifier) for name, notifier in config.notifiers.items()}
        self._ledger = Ledger(leadership)
        self._open = 0  # incidents
        self._delivered: list[DueMessage] = []  # not saved yet
        self._lost_reason = ""  # why this instance lost the lead, as logged last
        self.finished = threading.Event()
        self.finished.set()
        self._presence: dict[str, Presence] = {}
        self._watches: dict[tuple[str, str], LagWatch] = {}
        self._due_s: dict[
            str, float
        ] = {}  # when to check each cluster next, on the monotonic clock
        self._currents = CurrentClusters()
        self._silent_clusters, self._silent_consumers = Silence("cluster"), Silence("consumer")

    def health(self) -> RoundsHealth:
        return RoundsHealth(
            self.problem or self._ledger.problem,
            self.restarts,
            self._leadership.leads,
            self._open,
            silent=sorted(self._silent_clusters.names),
            silent_consumers=sorted(self._silent_consumers.names),
        )

    def run(self, stop: threading.Event) -> None:
        self.finished.clear()
        try:
            while not stop.is_set():
                if self._leadership.leads:
                    self._try_to_lead(stop)
                # A standby watches too, to know since when clusters are current.
                self._current_clusters(self._boards(), _now_ms())
                stop.wait(POLL_S)
        finally:
            self.finished.set()

    def _try_to_lead(self, stop: threading.Event) -> None:
        try:
            self._lead(stop)
        except LeadershipLost as error:
            if str(error) != self._lost_reason:
                log.warning("notifications are interrupted", type="notifier", reason=str(error))
            self._lost_reason = str(error)
        finally:
            for delivery in self.deliveries:
                delivery.clear()
                delivery.stop_leading()

    def _lead(self, stop: threading.Event) -> None:
        self.take_over()
        while self._leadership.leads and not stop.is_set():
            self.note_delivered(_now_ms())
            self.look(time.monotonic(), _now_ms())
            self._has_delivered.wait(POLL_S)
            self._has_delivered.clear()
        if stop.is_set():
            self._wait_for_replies()

    def _wait_for_replies(self) -> None:
        """Wait for replies to messages in flight, or they would be sent again after a restart."""
        for delivery in self.deliveries:
            delivery.clear()
        until = time.monotonic() + REPLY_S
        for delivery in self.deliveries:
            delivery.wait_for_answer(max(until - time.monotonic(), 0))
        self.note_delivered(_now_ms())

    def take_over(self) -> None:
        """Continue from the saved incidents, whichever instance saved them."""
        self._ledger.load()
        self._delivered = [each for each in self._delivered if self._is_owed(each)]
        self._lost_reason, self._open = "", self._ledger.open
        self._due_s, self._presence, self._watches = {}, {}, {}
        log.info("continuing with the saved incidents", type="notifier", open=self._open)

    def note_delivered(self, now_ms: int) -> None:
        """Save what was delivered; if that fails, try again the next time we lead."""
        for delivery in self.deliveries:
            self._delivered += [
                each for each in delivery.take_from_last_lead() if self._is_owed(each)
            ]
            self._delivered += delivery.take_delivered()
        self._ledger.save(self._confirm(self._delivered, now_ms))
        self._delivered = []

    def _is_owed(self, message: DueMessage) -> bool:
        subject = message.subject
        return is_owed(self._ledger.of(subject.cluster).get(subject, NOTHING), message.notice)

    def _confirm(
        self, delivered: Iterable[DueMessage], now_ms: int
    ) -> dict[Subject, Record | None]:
        changes: dict[Subject, Record | None] = {}
        for message in delivered:
            subject = message.subject
            known = self._ledger.of(subject.cluster).get(subject)
            before = changes.get(subject, known) or NOTHING
            confirmed = confirm(before, message.notice, closes_by_id=self._closes_by_id(message))
            after = trim(confirmed, Status.OK, self._policies, now_ms)
            changes[subject] = after
            just_delivered = (message.notice.module, message.notice.id)
            for module, incident in dropped_closes(before, after, self._policies):
                if (module, incident) != just_delivered:
                    reason = self._why_dropped(module, message)
                    self._drop_close(module, subject, incident, reason)
        return changes

    def _why_dropped(self, module: str, delivered: DueMessage) -> str:
        if module != delivered.notice.module:
            return TOO_LATE
        return TOO_MANY if self._closes_by_id(delivered) else OVERTAKEN

    def _closes_by_id(self, message: DueMessage) -> bool:
        subject, module = message.subject, message.notice.module
        policy = self._policies.get(module)
        return bool(policy and policy.send_close and self._by_name[module].closes_by_id(subject))

    def _drop_close(self, module: str, subject: Subject, incident: str, reason: str) -> None:
        self._by_name[module].drop_close(subject, incident, reason)

    def look(self, now_s: float, now_ms: int) -> None:
        """Check the clusters whose round is due; `now_s` is used only for that."""
        board = self._boards()
        currents = self._current_clusters(board, now_ms)
        for current in [*currents, *map(CurrentCluster, self._removed_clusters())]:
            if now_s >= self._due_s.get(current.cluster, now_s):
                self._due_s[current.cluster] = now_s + self._round_s
                self._look_at(current, board, now_ms)
        self._note_silence(currents, now_s)

    def _current_clusters(self, board: Board, now_ms: int) -> list[CurrentCluster]:
        oldest_ms = now_ms - self._config.evaluator.expire_cache * 1000 - OLD_BOARD_MS
        return self._currents.of(board, oldest_ms)

    def _note_silence(self, currents: Iterable[CurrentCluster], now_s: float) -> None:
        judged = {current.cluster: current.behind for current in currents}
        self._silent_clusters.note(self._config.clusters, judged, now_s)
        behind = frozenset[str]().union(*judged.values())
        consumers = self._config.consumers
        self._silent_consumers.note(consumers, consumers.keys() - behind, now_s)

    def _removed_clusters(self) -> list[str]:
        return [each for each in self._ledger.clusters if each not in self._config.clusters]

    def _look_at(self, current: CurrentCluster, board: Board, now_ms: int) -> None:
        cluster = current.cluster
        presence = self._presence.setdefault(cluster, Presence(self._reads_from_start(cluster)))
        records = self._ledger.of(cluster)
        is_gone = self._is_gone(presence, now_ms)
        this = NotifierRound(cluster, records, self._policies, now_ms, is_gone, current)
        self._judge(this, board)
        presence.note(this.there, this.missing, this.skipped)
        self._ledger.save(this.changes)
        for module, subject, incident in this.dropped_closes:
            self._drop_close(module, subject, incident, TOO_LATE)
        for delivery in self.deliveries:
            delivery.update(cluster, this.due.get(delivery.name, {}), current.unread)
        self._open = self._ledger.open
        self.problem = ""

    def _judge(self, this: NotifierRound, board: Board) -> None:
        judged = board.clusters.get(this.cluster)
        rules = {name: rule for name, rule in self._rules.items() if rule and judged}
        if judged:
            now_s = this.now_ms / 1000
            silences = Silences(self._silences.all(now_s), this.cluster, now_s)
            this.routing = Routing.on(judged, silences, now_s)
            this.beside = Beside(judged.numbers, judged.judgement, judged.life)
            this.judge_groups(judged.verdicts, alarms(judged, now_s))
            for name, rule in rules.items():
                watch = self._watch(this.cluster, name, rule)
                this.judge_lags(judged.verdicts, name, watch)
        else:
            this.end("")
        for module in {subject.module for subject in this.records} - rules.keys() - {""}:
            this.end(module)

    def _watch(self, cluster: str, module: str, rule: LagRule) -> LagWatch:
        key = (cluster, module)
        if key not in self._watches:
            self._watches[key] = LagWatch(rule, self._round_s * 1000)
        return self._watches[key]

    def _reads_from_start(self, cluster: str) -> bool:
        consumers = self._config.consumers.values()
        return not any(each.start_latest for each in consumers if each.cluster == cluster)

    def _is_gone(self, presence: Presence, now_ms: int) -> Callable[[Subject], bool]:
        """A group not seen since the start is gone once it would have expired."""
        longest_ms = self._config.storage.expire_group * 1000

        def is_gone(subject: Subject) -> bool:
            since_ms = self._ledger.of(subject.cluster)[subject].start_ms
            return presence.is_gone(subject, has_expired=now_ms - since_ms > longest_ms)

        return is_gone


def _now_ms() -> int:
    return int(time.time() * 1000)
