"""Where the reading of an offsets topic begins, and what is forgotten when it begins anew."""

from confluent_kafka.admin import AdminClient

from warren.cluster import Following
from warren.sources import log_ends
from warren.sources.offsets_topic import Positions
from warren.windows.membership import Membership


def starting_positions(
    following: Following, admin: AdminClient, timeout_s: float = log_ends.TIMEOUT_S
) -> Positions:
    """Where to read on: after what was folded last, and at first as configured."""
    leaders, isolation = following.leaders, following.isolation
    first = earliest_positions(following, admin, timeout_s)
    end = log_ends.fetch_ends(admin, leaders, isolation=isolation, timeout_s=timeout_s)
    last = log_ends.by_number(end.table)
    answering = sorted(first.keys() & last.keys())
    stood = dict(following.progress.position)
    if any(stood.get(partition, 0) > last[partition] for partition in answering):
        begin_anew(following)  # what there is now was written later, and all of it is news
        stood = {}
    skips_the_past = following.settings.start_latest and not following.is_new_topic
    fresh = last if skips_the_past else first
    # Retention may have taken what was to be read next.
    return {each: max(stood.get(each, fresh[each]), first[each]) for each in answering}


def begin_anew(following: Following) -> None:
    """Forget what the records of an offsets topic said that no longer exists.

    Their orders would say nothing about those of the records there are now.
    """
    cluster = following.cluster
    following.is_new_topic = True
    with cluster.lock:
        cluster.windows.forget_groups()
        cluster.membership = Membership()
        following.progress.forget_positions()


def earliest_positions(
    following: Following, admin: AdminClient, timeout_s: float = log_ends.TIMEOUT_S
) -> dict[int, int]:
    which = log_ends.EARLIEST
    first = log_ends.fetch_ends(admin, following.leaders, which=which, timeout_s=timeout_s)
    return log_ends.by_number(first.table)
