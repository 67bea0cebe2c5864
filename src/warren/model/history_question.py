"""Requests for history, as an HTTP worker sends them to the pipeline's process."""

from typing import NamedTuple

from warren.model.period import Period

STEPS = 500  # of a curve, at most


class HistoryQuestion(NamedTuple):
    """One request for the history of a group, or of what it reads of one topic or partition."""

    cluster: str
    group: str
    period: Period
    partitions: int  # lines of the heat map; 0: no heat map
    is_known: bool = False  # the group exists now: no history of it is not an error
    topic: str = ""  # empty: all of them
    partition: int | None = None
    steps: int = STEPS
    ticket: str = ""  # by which its progress can be asked for


class Progress(NamedTuple):
    """How far the answer to a question is."""

    share: float  # of the reading, from 0 to 1
    moments: int  # read so far


class ReportQuestion(NamedTuple):
    """One request for a report on all groups."""

    period: Period
    cluster: str  # empty: all of them
    group: str
    top: int  # lines of each table
