"""What policies and silences say about messages: about what, to whom, and when not.

An incident goes on whatever they say. Only its opening and its repeats are held back, so that what
is still bad after a silence is sent then, and what was reported as bad is reported as good.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from warren.model.arrays import Bytes, Ints
from warren.model.board import ClusterBoard
from warren.model.policies import NO_POLICY, LinePolicies, Policy
from warren.model.silence import Silence, Silences
from warren.model.status import Status

MS = 1000


class Route(NamedTuple):
    """Where the messages about a group go."""

    policy: Policy | None = None  # of the worst partition that opens an incident
    silence: Silence | None = None
    grace_ms: int = 0

    @property
    def owner(self) -> str:
        return self.policy.owner if self.policy else ""

    def lets_open(self, module: str, bad_for_ms: int) -> bool:
        """Whether a notifier may send that the group is bad."""
        if self.silence is not None or bad_for_ms < self.grace_ms:
            return False
        is_routed = self.policy is not None and self.policy.notify is not None
        return not is_routed or module in (self.policy.notify or () if self.policy else ())


ANYWHERE = Route()


def alarms(board: ClusterBoard, now_s: float) -> Bytes:
    """By group, the status that opens an incident, by the evaluator that decides."""
    judgement = board.judgement
    if board.policies is None or (judgement is not None and judgement.decides):
        return board.alarms
    return worst(line_alarms(board, now_s), board.verdicts.groups.first)


def line_alarms(board: ClusterBoard, now_s: float) -> Bytes:
    """The same by line."""
    judgement = board.judgement
    if judgement is not None and judgement.decides and judgement.alarm is not None:
        return judgement.alarm
    return status_alarms(board.verdicts.partitions.status, now_s, board.policies)


def worst(alarm: Bytes, first: Ints) -> Bytes:
    """Of each group; its lines are first[i] .. first[i + 1] - 1."""
    most = np.maximum.reduceat(alarm, first[:-1]) if len(first) > 1 else alarm[:0]
    return np.minimum(most, np.uint8(Status.ERR))


def status_alarms(status: Bytes, now_s: float, policies: LinePolicies | None) -> Bytes:
    """By line, the status by Burrow's rules, where its policy wants somebody to be notified."""
    if policies is None:
        return status
    names = [status.name for status in sorted(Status)]
    every = np.ones(len(names), np.bool_)
    rows = [each.paging(names, every, now_s) for each in policies.policies]
    table = np.array([*rows, every])  # no policy: last
    return np.where(table[policies.of_line, status], status, np.uint8(Status.OK))


@dataclass(frozen=True)
class Routing:
    """The routes of some groups; they are looked up for few of them only."""

    names: tuple[str, ...]  # of the groups
    first: Ints  # a group's lines are first[i] .. first[i + 1] - 1
    said: Bytes  # of each line: a word if words decide, else a status
    alarm: Bytes  # the status of each line that opens an incident
    says_words: bool
    policies: LinePolicies | None
    silences: Silences

    @classmethod
    def on(cls, board: ClusterBoard, silences: Silences, now_s: float) -> "Routing":
        verdicts, judgement = board.verdicts, board.judgement
        decides = judgement is not None and judgement.decides
        said = judgement.word if judgement and decides else verdicts.partitions.status
        alarm = line_alarms(board, now_s)
        about = (said, alarm, decides, board.policies)
        return cls(verdicts.names, verdicts.groups.first, *about, silences)

    def of(self, line: int) -> Route:
        """The route of a group, by its line."""
        policy = self._policy(line)
        silence = self.silences.of(self.names[line], policy.owner if policy else "")
        # Warren's own evaluator has waited already.
        grace_s = (policy.grace_s or 0) if policy and not self.says_words else 0
        return Route(policy, silence, int(grace_s * MS))

    def _policy(self, line: int) -> Policy | None:
        """The policy of the worst line that opens an incident.

        Where none does any more, of the worst that its policy has anything to say about.
        """
        if self.policies is None:
            return None
        lines = slice(int(self.first[line]), int(self.first[line + 1]))
        of_line = self.policies.of_line[lines]
        heard = [not policy.ignore for policy in self.policies.policies] + [True]
        is_heard, is_alarm = np.array(heard)[of_line], self.alarm[lines] > Status.OK
        badness = self.said[lines] + 100 * is_heard + 200 * is_alarm.astype(np.int64)
        number = int(of_line[badness.argmax()])
        return None if number == NO_POLICY else self.policies.policies[number]
