"""What a worker asks the pipeline's process about the past, and what the past is searched for."""

from typing import NamedTuple

from warren.model.period import Period


class HistoryQuestion(NamedTuple):
    """One request for the past of a group."""

    cluster: str
    group: str
    period: Period
    partitions: int  # lines of the heat map; 0: none is wanted
    is_known: bool = False  # the group is there now: that nothing was kept of it is no error
