"""A request for history, as an HTTP worker sends it to the pipeline's process."""

from typing import NamedTuple

from warren.model.period import Period


class HistoryQuestion(NamedTuple):
    """One request for the history of a group."""

    cluster: str
    group: str
    period: Period
    partitions: int  # lines of the heat map; 0: no heat map
    is_known: bool = False  # the group exists now: no history of it is not an error
