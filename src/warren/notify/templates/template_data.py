"""A message as template data, with Burrow's fields and names."""

from collections.abc import Mapping
from math import isinf

import msgspec

from warren.model.figures import LineFigures
from warren.model.go_json import number
from warren.model.kafka_names import readable
from warren.notify import plain_numbers
from warren.notify.message import (
    GroupResult,
    Measures,
    Members,
    Message,
    Offset,
    PartitionResult,
)
from warren.notify.templates.go_values import NIL, GoTime, Lag, StatusValue, Struct, Table
from warren.notify.wording import evidence, group_url, headline, verdict


def template_data(message: Message, extras: Mapping[str, str], page: str = "") -> Struct:
    """The value of `.`; `.Reason`, `.Link`, `.Waiting` and `.Id` are Warren's own."""
    start = _time(message.start_ms)
    fields = {
        "Cluster": readable(message.cluster),
        "Group": readable(message.group),
        "ID": message.id,
        "Start": start,
        "Extras": Table(extras, ""),
        "Result": _result(message.result),
    }
    link = group_url(page, message.cluster, message.group)
    own = {"Reason": readable(message.reason), "Link": link}
    own["Id"] = message.id  # used in a template that comes with Burrow
    said = {
        "Waiting": plain_numbers.waiting(message),
        "Evidence": evidence(message),
        "Headline": headline(message),
        "Owner": readable(message.owner),
    }
    return Struct("the message", {**fields, **own}, fields, said)


def _result(result: GroupResult) -> Struct:
    status = StatusValue(result.status)
    partitions = [_partition(each) for each in result.partitions]
    maxlag = _partition(result.maxlag) if result.maxlag else NIL
    fields = {
        "Cluster": readable(result.cluster),
        "Group": readable(result.group),
        "Status": status,
        "Complete": result.complete,
        "Partitions": partitions,
        "TotalPartitions": result.total_partitions,
        "Maxlag": maxlag,
        "TotalLag": result.total_lag,
    }
    json = dict(zip(_RESULT_KEYS, fields.values(), strict=True))
    json["complete"] = number(result.complete)
    own = {
        "Numbers": _numbers(result.numbers),
        "Word": verdict(result),
        "Members": _members(result.members),
    }
    return Struct("a group's result", fields, json, own)


def _partition(partition: PartitionResult) -> Struct:
    fields = {
        "Topic": readable(partition.topic),
        "Partition": partition.partition,
        "Owner": readable(partition.owner),
        "ClientID": readable(partition.client_id),
        "Status": StatusValue(partition.status),
        "Start": _offset(partition.start),
        "End": _offset(partition.end),
        "CurrentLag": partition.current_lag,
        "Complete": partition.complete,
    }
    json = dict(zip(_PARTITION_KEYS, fields.values(), strict=True))
    json["complete"] = number(partition.complete)
    said = partition.opinion
    own = {
        "Numbers": _numbers(partition.numbers),
        "Word": said.word or partition.status.name,
        "Why": said.why,
        "Ends": said.ends,
        "Since": _time(said.since_ms),
        "Second": said.second,
        "Figures": _figures(said.figures) if said.figures else NIL,
        "LastOwner": readable(partition.last_owner),
        "LastClient": readable(partition.last_client),
    }
    return Struct("a partition", fields, json, own)


def _members(members: Members) -> Struct:
    known = {
        "Count": members.count,
        "EmptySince": _time(members.empty_since_ms),
        "Generations": members.generations_per_minute,
        "Churn": members.churn_per_minute,
    }
    return Struct("the members", known, msgspec.structs.asdict(members))


def _figures(figures: LineFigures) -> Struct:
    """What does not count for a word is nil."""
    known = {name: NIL if value is None else value for name, value in figures._asdict().items()}
    fields = {_FIGURES[name]: value for name, value in known.items() if name != "since_s"}
    since = {"Since": _time(figures.since_s * 1000)}
    return Struct("the figures", fields | since, known)


def _time(ms: int) -> GoTime:
    return GoTime.at(ms) if ms else GoTime.never()


def _numbers(numbers: Measures) -> Struct:
    """Warren's own; what is not known is nil, seconds that are infinite mean never."""
    known = {
        name: NIL if value is None else value
        for name, value in msgspec.structs.asdict(numbers).items()
    }
    json = {name: _in_json(value) for name, value in known.items()}
    return Struct("the numbers", {_NUMBERS[name]: value for name, value in known.items()}, json)


def _in_json(value: object) -> object:
    """As the HTTP API writes it: JSON has no infinity."""
    return "never" if isinstance(value, float) and isinf(value) else value


def _offset(offset: Offset | None) -> object:
    if offset is None:
        return NIL
    fields = {
        "Offset": offset.offset,
        "Order": 0,  # the commit's position in the offsets topic, which is never shown
        "Timestamp": offset.timestamp,
        "ObservedTimestamp": offset.observed_at,
        "Lag": NIL if offset.lag is None else Lag(offset.lag),
    }
    shown = (value for field, value in fields.items() if field != "Order")
    return Struct("an offset", fields, dict(zip(_OFFSET_KEYS, shown, strict=True)))


_NUMBERS = {
    "lag": "Lag",
    "lag_low": "LagLow",
    "lag_high": "LagHigh",
    "age_s": "Age",
    "age_low_s": "AgeLow",
    "age_high_s": "AgeHigh",
    "age_method": "AgeMethod",
    "drain_low_s": "DrainLow",
    "drain_high_s": "DrainHigh",
    "margin_s": "Margin",
    "lost": "Lost",
    "scalable_lag": "ScalableLag",
    "offsets_expire_s": "Expires",
}
_FIGURES = {
    "commit": "Commit",
    "start": "LogStart",
    "end": "LogEnd",
    "records": "Records",
    "late_s": "Late",
    "was_late_s": "LeastLate",
    "limit_s": "MaxTimeLag",
    "rate": "Generations",
}
# The names in JSON, which are those of the HTTP API, in the order of the fields.
_RESULT_KEYS = (
    *("cluster", "group", "status", "complete", "partitions"),
    *("partition_count", "maxlag", "totallag"),
)
_PARTITION_KEYS = (
    *("topic", "partition", "owner", "client_id", "status", "start", "end"),
    *("current_lag", "complete"),
)
_OFFSET_KEYS = ("offset", "timestamp", "observedAt", "lag")
