"""`/metrics`: lag and age with their bounds, and what will be.

A number that is not known has no series. Seconds until something that will not happen are `+Inf`.
"""

from collections.abc import Callable

import numpy as np

from warren.model.granularity import Level
from warren.model.numbers import UNKNOWN
from warren.serve.board_file.board_view import ClusterView
from warren.serve.metrics.families import Family, Found, Of, Style, parts

STYLE = Style(cluster="cluster", group="consumer_group")


def count(column: str) -> Callable[[ClusterView], Found]:
    def find(cluster: ClusterView) -> Found:
        values = cluster.arrays[column]
        return Found(values, values != UNKNOWN)

    return find


def known(column: str) -> Callable[[ClusterView], Found]:
    """Seconds with a bound."""

    def find(cluster: ClusterView) -> Found:
        values = cluster.arrays[column]
        return Found(values, np.isfinite(values))

    return find


def until(column: str) -> Callable[[ClusterView], Found]:
    """Seconds, or never."""

    def find(cluster: ClusterView) -> Found:
        values = cluster.arrays[column]
        return Found(values, ~np.isnan(values))

    return find


def greatest(column: str) -> Callable[[ClusterView], Found]:
    """The greatest of each topic of each group."""

    def find(cluster: ClusterView) -> Found:
        first = parts(cluster)
        values = np.fmax.reduceat(cluster.arrays[column], first) if len(first) else np.zeros(0)
        return Found(values, np.isfinite(values))

    return find


def lost(cluster: ClusterView) -> Found:
    """Only where there was a loss: elsewhere a million series would say 0."""
    values = cluster.arrays["lost"]
    return Found(values, values > 0)


AGE = "Seconds since the oldest unread record was written, 0 when nothing is unread"
LAG = "Records that the group could read now"
DRAIN = "Seconds until everything is read at the present pace, +Inf: never"
MARGIN = "Seconds until retention reaches the commit as both go on, +Inf: it will not"
SCALABLE = "Lag that another member could help with: no markers, no partition that stands still"
LOST = "Records that retention took before the group had read them"
LOW, HIGH = "the least it can be", "the most it can be"

NUMBERS = [
    *(
        Family(f"warren_group_{name}", about, Of.GROUP, STYLE, find)
        for name, about, find in (
            ("lag", LAG, count("group_lag")),
            ("lag_low", f"{LAG}: {LOW}", count("group_lag_low")),
            ("lag_high", f"{LAG}: {HIGH}", count("group_lag_high")),
            ("time_lag_seconds", AGE, known("group_age_s")),
            ("time_lag_seconds_low", f"{AGE}: {LOW}", known("group_age_low_s")),
            ("time_lag_seconds_high", f"{AGE}: {HIGH}", known("group_age_high_s")),
            ("drain_seconds_low", f"{DRAIN}: {LOW}", until("group_drain_low_s")),
            ("drain_seconds_high", f"{DRAIN}: {HIGH}", until("group_drain_high_s")),
            ("loss_margin_seconds", f"{MARGIN}: of the nearest", until("group_margin_s")),
            ("lost_records", LOST, count("group_lost")),
            (
                "scalable_lag",
                SCALABLE,
                count("group_scalable_lag"),
            ),
            (
                "offsets_expire_seconds",
                "Seconds until the brokers forget the first of a group's offsets",
                known("group_expires_s"),
            ),
        )
    ),
    *(
        Family(f"warren_topic_{name}", about, Of.TOPIC_OF_GROUP, STYLE, find, (Level.TOPIC,))
        for name, about, find in (
            ("time_lag_seconds", f"{AGE}, by topic", greatest("age_s")),
            ("time_lag_seconds_low", f"{AGE}, by topic: {LOW}", greatest("age_low_s")),
            ("time_lag_seconds_high", f"{AGE}, by topic: {HIGH}", greatest("age_high_s")),
        )
    ),
    *(
        Family(
            f"warren_partition_{name}",
            about,
            Of.PARTITION_OF_GROUP,
            STYLE,
            find,
            (Level.PARTITION,),
        )
        for name, about, find in (
            ("time_lag_seconds", f"{AGE}, by partition", known("age_s")),
            ("time_lag_seconds_low", f"{AGE}, by partition: {LOW}", known("age_low_s")),
            ("time_lag_seconds_high", f"{AGE}, by partition: {HIGH}", known("age_high_s")),
            ("loss_margin_seconds", f"{MARGIN}, by partition", known("margin_s")),
            ("lost_records", f"{LOST}, by partition", lost),
        )
    ),
]
