"""`[policy.NAME]` and `[silence.NAME]`: what holds for some groups, and who has to know when.

Policies are asked in the order of the file, and the first that matches a group and a topic holds.
"""

from datetime import UTC, datetime
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from warren.config.keys import Check, Name, NonNegative, key
from warren.config.sections import NamedSection
from warren.model.name_patterns import check_pattern
from warren.model.policies import WORDS, Policy
from warren.model.schedules import Schedule, read_period, read_schedule
from warren.model.silence import Silence


def _zone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (OSError, ValueError, LookupError) as error:
        raise ValueError("there is no such time zone") from error
    return text


def _period(text: str) -> str:
    read_period(text)
    return text


def _schedule(text: str) -> str:
    if text:
        read_schedule(text)
    return text


def _hours(text: str) -> str:
    if text and not read_schedule(text).spans:
        raise ValueError("it is a period")
    return text


def _word(text: str) -> str:
    if text.upper() not in WORDS:
        raise ValueError
    return text.upper()


def _moment(text: str) -> str:
    if text:
        read_moment(text)
    return text


def read_moment(text: str) -> float:
    """Read a moment in seconds since 1970; without a zone it is UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text.strip())
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


_PERIOD = "seconds, or a period such as 90s, 10m or 1h30m"
Period = Annotated[str, Check(_period, _PERIOD)]
NamePattern = Annotated[
    str, Check(check_pattern, "a name, or a regular expression in RE2's dialect")
]
Word = Annotated[str, Check(_word, "one of " + ", ".join(WORDS))]
Zone = Annotated[str, Check(_zone, "the name of a time zone such as Europe/Berlin")]
Moment = Annotated[str, Check(_moment, "a moment such as 2026-12-01T08:00:00Z")]
Hours = Annotated[str, Check(_hours, "hours such as mon-fri 08:00-18:00")]
ScheduleText = Annotated[
    str, Check(_schedule, "a period such as 10m, or hours such as mon-fri 08:00-18:00")
]

_ALL_IF_EMPTY = "names, or regular expressions that match a whole name; all if there are none."


class Matching(NamedSection, frozen=True, kw_only=True):
    clusters: Annotated[
        tuple[NamePattern, ...],
        key(f"Warren's own. Clusters: {_ALL_IF_EMPTY}", example='["local", "prod-.*"]'),
    ] = ()
    groups: Annotated[
        tuple[NamePattern, ...],
        key(f"Warren's own. Groups: {_ALL_IF_EMPTY}", example='["billing", "billing-.*"]'),
    ] = ()


class PolicySettings(Matching, frozen=True, kw_only=True):
    topics: Annotated[
        tuple[NamePattern, ...],
        key(f"Warren's own. Topics: {_ALL_IF_EMPTY}", example='["orders"]'),
    ] = ()
    allowed_lag: Annotated[
        NonNegative | None,
        key(
            "Warren's own. Lag, in messages, up to which a partition counts as having none.",
            default="the evaluator's",
            example="1000",
        ),
    ] = None
    max_time_lag: Annotated[
        Period | None,
        key(
            "Warren's own. How old the oldest unread record may be: seconds, or a period such as "
            "5m. Beyond it the verdict is WARN at least.",
            default="none",
            example="5m",
        ),
    ] = None
    grace: Annotated[
        Period | None,
        key(
            "Warren's own. How long a group has to be bad before anybody is notified.",
            default="none",
            example="2m",
        ),
    ] = None
    schedule: Annotated[
        ScheduleText,
        key(
            "Warren's own. When the group works: a period, if it runs every so often, or hours of "
            "the week, outside of which nobody is notified. Several hours are separated by "
            "semicolons.",
            example="mon-fri 08:00-18:00",
        ),
    ] = ""
    time_zone: Annotated[Zone, key("Warren's own. The time zone of the hours.")] = "UTC"
    pages: Annotated[
        tuple[Word, ...] | None,
        key(
            "Warren's own. The verdicts to notify about; an empty list is none. A notifier's "
            "threshold holds beside it.",
            default="all that are bad",
            example='["STOP", "LOST"]',
        ),
    ] = None
    owner: Annotated[
        str, key("Warren's own. Who is responsible: a team, a person.", example="team-payments")
    ] = ""
    ignore: Annotated[
        bool, key("Warren's own. Never notify about these, whatever the verdict.")
    ] = False
    notify: Annotated[
        tuple[Name, ...] | None,
        key(
            "Warren's own. The `notifier` sections that are notified; an empty list is none.",
            default="all",
            example='["slack"]',
        ),
    ] = None
    isolation: Annotated[
        Literal["", "read-committed", "read-uncommitted"],
        key(
            "Warren's own. How the group reads: which end of the log its lag counts from.",
            example='"read-committed"',
        ),
    ] = ""

    def policy(self) -> Policy:
        return Policy(
            name=self.name,
            clusters=self.clusters,
            groups=self.groups,
            topics=self.topics,
            allowed_lag=self.allowed_lag,
            max_time_lag_s=None if self.max_time_lag is None else read_period(self.max_time_lag),
            grace_s=None if self.grace is None else read_period(self.grace),
            schedule=self._schedule(),
            pages=None if self.pages is None else frozenset(self.pages),
            owner=self.owner,
            ignore=self.ignore,
            notify=self.notify,
            isolation=self.isolation,
        )

    def _schedule(self) -> Schedule | None:
        return read_schedule(self.schedule, self.time_zone) if self.schedule else None


class SilenceSettings(Matching, frozen=True, kw_only=True):
    owners: Annotated[
        tuple[NamePattern, ...],
        key(
            f"Warren's own. Owners that policies name: {_ALL_IF_EMPTY}",
            example='["team-payments"]',
        ),
    ] = ()
    begin: Annotated[
        Moment,
        key(
            "Warren's own. When it begins; UTC unless the moment says otherwise. At once if empty.",
            example="2026-12-01T06:00:00Z",
        ),
    ] = ""
    end: Annotated[
        Moment,
        key("Warren's own. When it ends; required without hours.", example="2026-12-01T08:00:00Z"),
    ] = ""
    hours: Annotated[
        Hours,
        key(
            "Warren's own. A maintenance window that returns: the hours of the week in which it "
            "holds.",
            example="sun 02:00-04:00",
        ),
    ] = ""
    time_zone: Annotated[Zone, key("Warren's own. The time zone of the hours.")] = "UTC"
    comment: Annotated[str, key("Warren's own. Why.", example="database upgrade")] = ""

    def silence(self) -> Silence:
        return Silence(
            id=self.name,
            clusters=self.clusters,
            groups=self.groups,
            owners=self.owners,
            begin_s=read_moment(self.begin) if self.begin else 0,
            end_s=read_moment(self.end) if self.end else None,
            hours=self.hours,
            time_zone=self.time_zone,
            comment=self.comment,
            author="configuration",
        )
