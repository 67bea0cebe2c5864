"""How old records are by their timestamps: brokers find the first record since a moment.

One request to each leader asks about many partitions, each with its own moment, and halves what is
left. Ages are halved on a logarithmic scale, until a bound is a tenth of the age: some eight
requests, whatever the age. Timestamps are those of producers' clocks, or of brokers'.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

from confluent_kafka.admin import AdminClient, OffsetSpec

from warren.model.probe_answers import FIRST_MS, LAST_MS
from warren.sources.log_ends import (
    NO_SUCH_RECORD,
    UNCOMMITTED,
    EndsRequest,
    Found,
    Partition,
    fetch_offsets,
)

YOUNGEST_MS, OLDEST_MS = 1_000, 3 * 365 * 86_400_000
WIDTH = 1.1  # how far the bounds of an age may be apart, as their quotient
STEPS = math.ceil(math.log2(math.log(OLDEST_MS / YOUNGEST_MS) / math.log(WIDTH))) + 1


def is_too_old(age_ms: int) -> bool:
    return age_ms * WIDTH >= OLDEST_MS


class Times(NamedTuple):
    """The record's timestamp lies between these."""

    earliest_ms: int = FIRST_MS
    latest_ms: int = LAST_MS

    def middle_ms(self, now_ms: int) -> int:
        """The moment whose age is the geometric mean of those that are still possible."""
        youngest = max(now_ms - self.latest_ms, YOUNGEST_MS)
        oldest = min(max(now_ms - self.earliest_ms, youngest), OLDEST_MS)
        return now_ms - int(math.sqrt(youngest * oldest))

    def is_narrow(self, now_ms: int) -> bool:
        youngest, oldest = now_ms - self.latest_ms, now_ms - self.earliest_ms
        return oldest <= YOUNGEST_MS or oldest <= WIDTH * youngest or is_too_old(youngest)

    def narrowed(self, offset: int, moment_ms: int, first: Found) -> "Times":
        """With the first record since a moment, narrow the time of the record at an offset."""
        if first.offset == NO_SUCH_RECORD or first.offset > offset:
            return self._replace(latest_ms=min(self.latest_ms, moment_ms))
        if first.offset == offset:
            return Times(first.timestamp_ms, first.timestamp_ms)
        # A record before it is not older: nor is this one, if timestamps grow.
        earliest_ms = max(self.earliest_ms, moment_ms, min(first.timestamp_ms, self.latest_ms))
        return self._replace(earliest_ms=earliest_ms)


def fetch_times(
    admin: AdminClient,
    leaders: Mapping[Partition, int],
    offsets: Mapping[Partition, int],
    now_ms: int,
    timeout_s: float,
) -> dict[Partition, Times]:
    """When the record at each of these offsets was written, or the first one after it.

    A partition that does not answer is left out. A time that is years ago is no time: unbounded.
    """
    times = {each: Times() for each in offsets if each in leaders}
    for _ in range(STEPS):
        asked = {
            partition: each.middle_ms(now_ms)
            for partition, each in times.items()
            if not each.is_narrow(now_ms)
        }
        if not asked:
            break
        which = {each: OffsetSpec.for_timestamp(moment) for each, moment in asked.items()}
        led = {each: leaders[each] for each in asked}
        found, missing = fetch_offsets(admin, led, EndsRequest(which, UNCOMMITTED, timeout_s))
        for partition in missing:
            del times[partition]
        for partition, first in found.items():
            moment_ms, offset = asked[partition], offsets[partition]
            times[partition] = times[partition].narrowed(offset, moment_ms, first)
    return {partition: credible(each, now_ms) for partition, each in times.items()}


def credible(times: Times, now_ms: int) -> Times:
    """A time so long ago that no search goes there is none at all."""
    return Times() if is_too_old(now_ms - times.latest_ms) else times
