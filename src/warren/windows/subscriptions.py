"""What the members of a group subscribe to, and what those before them did.

It tells a group that has left a topic from one whose readers are gone. Who leaves a topic comes
with a new subscription: a deployment does that, whether members are replaced one by one or at once,
and when all are down in between. If the only members that subscribed to a topic are gone, and the
others subscribe to what they always did, nobody has decided anything.
"""

from collections.abc import Callable, Iterable, Iterator
from math import inf

from msgspec import Struct, field

from warren.model.group_events import Subscription

DEPLOYMENT_S = 600.0  # old and new members are there together for no longer
MOST = 10  # subscriptions that are remembered
HELD = inf


class Past(Struct):
    """A subscription, since when it was first seen, and until when some member had it."""

    subscription: Subscription
    since_s: float
    until_s: float = HELD


class Subscriptions(Struct):
    """Those of one group; the last ones first seen come last."""

    past: list[Past] = field(default_factory=list)

    def change(
        self, before: Iterable[Subscription], now: Iterable[Subscription], at_s: float
    ) -> None:
        """Members had these `before`, and have those `now`."""
        had, have = {*before}, {*now}
        for each in self.past:
            if each.subscription in have:
                each.until_s = HELD
            elif each.until_s == HELD and each.subscription in had:
                each.until_s = at_s
        known = {each.subscription for each in self.past}
        self.past += [Past(each, at_s) for each in sorted(have - known, key=_sizes)]
        while len(self.past) > MOST:
            self.past.remove(min(self.past, key=lambda each: each.until_s))

    def left(self, covers: Callable[[Subscription], bool]) -> bool:
        """Whether the group has left a topic, which these subscriptions cover.

        Of a group without members the last ones it had count.
        """
        last_s = max((each.until_s for each in self.past), default=HELD)
        present = [each for each in self.past if each.until_s == last_s]
        if any(covers(each.subscription) for each in present):
            return False
        gone_s = [each.until_s for each in self.past if covers(each.subscription)]
        return not gone_s or any(each.since_s > max(gone_s) - DEPLOYMENT_S for each in present)

    def ended(self) -> Iterator[tuple[str, ...]]:
        """The topics of those that nobody has any more."""
        return (each.subscription.topics for each in self.past if each.until_s != HELD)

    def keep(self, fits: Callable[[tuple[str, ...]], bool]) -> None:
        """Those that nobody has any more are only kept if they fit."""
        self.past = [
            each for each in self.past if each.until_s == HELD or fits(each.subscription.topics)
        ]


def _sizes(each: Subscription) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return each.topics, each.expressions
