"""The data flow, top to bottom: start here.

    offsets topic ─ follow ─► decoded batches ─ fold ─► windows ─ judge ─► board
    brokers ─ refresh_topics, refresh_ends, _edges ─────┤
    ZooKeeper, polled groups ─ fold_outside_changes ────┘

Each function is one step and keeps no state: what lasts from batch to batch is in the
`ClusterState` it is given. The threads in `readers` and `app` call them, and retry on failure.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path

import numpy as np
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from warren.decode.commits import decode, without_long_metadata
from warren.evaluate.expiry import expires_s
from warren.evaluate.judge import JudgeSettings, judge
from warren.evaluate.measure import measure
from warren.evaluate.rules import Rule
from warren.evaluate.warren_evaluator import Facts, deciding, judge_words
from warren.model.arrays import Floats
from warren.model.board import ClusterBoard, StoredWindows
from warren.model.tables import LOGGED_MS
from warren.model.window_arrays import WindowArrays
from warren.pipeline.batch_contents import (
    group_events,
    keep_accepted,
    own_commits,
    with_written_ms,
)
from warren.pipeline.cluster import ClusterState
from warren.pipeline.consumers import Sources, TopicConsumer
from warren.pipeline.outside_consumer import OutsideConsumer, groups_by_consumer
from warren.sources import group_offsets, log_edges, log_ends, offsets_topic
from warren.sources.offsets_topic import Batch, TopicStream
from warren.sources.outside_changes import OutsideChanges
from warren.windows.commit_columns import groups_of
from warren.windows.edges_due import edges_due
from warren.windows.limits import NO_ROOM
from warren.windows.losses import note_losses
from warren.windows.readings import readings
from warren.windows.replaced_topic import replace_topic
from warren.windows.window_reader import (
    edges_of,
    newest_commits,
    read_s,
    read_topics,
    window_arrays,
)

Store = Callable[[str, WindowArrays], StoredWindows]

REAPED_AT_ONCE = 1_000  # groups


def follow(spark: SparkSession, streams: Sequence[TopicStream], scratch: Path) -> StreamingQuery:
    """Read offsets topics on Spark until the query is stopped."""
    records = offsets_topic.read_all(spark, [stream.source for stream in streams])
    return offsets_topic.each_batch(records, streams, scratch, without_long_metadata)


def decoded(batch: Batch) -> Batch:
    """Parse the records of a batch: commits, and which records are about groups."""
    table = decode(batch.table)
    if LOGGED_MS in batch.table.column_names:
        table = table.append_column(LOGGED_MS, batch.table[LOGGED_MS])
    return batch._replace(table=table)


def fold(topic_consumer: TopicConsumer, batch: Batch, now: float) -> None:
    """Fold a decoded batch into its cluster's windows: commits, owners, our own progress."""
    cluster, now_s = topic_consumer.cluster, int(now)
    topic_consumer.notice_growth()
    events, malformed = group_events(batch.table, topic_consumer)
    commits = keep_accepted(batch.table, topic_consumer.accepts)
    skipped = Counter(batch.table["skipped"].drop_null().to_pylist()) + malformed
    with cluster.lock:
        kept_s = cluster.facts.offsets_retention_s
        deleted = cluster.membership.to_be_deleted(events.events, events.written_s(now), kept_s)
        changes = cluster.membership.fold(events.events, events.written_s(now))
        cluster.windows.dropped[NO_ROOM] += changes.no_room
        commits = with_written_ms(commits, topic_consumer.read_before_ms(commits), now)
        at_home, elsewhere = topic_consumer.homes.split_by_home(commits)
        expire_s = topic_consumer.expire_as_of_s(now)
        cluster.windows.fold(elsewhere, now_s, past=True, expire_as_of_s=expire_s)
        is_past = topic_consumer.is_backfill
        cluster.windows.fold(at_home, now_s, past=is_past, expire_as_of_s=expire_s)
        for group in deleted:
            cluster.windows.forgotten.drop_group(group)
        for group, owners in changes.owners.items():
            cluster.windows.set_owners(group, owners)
        if topic_consumer.reports_itself:
            cluster.windows.fold(own_commits(topic_consumer, batch.table, now_s), now_s)
        topic_consumer.progress.advance(batch.until, len(batch.table), now)
    topic_consumer.skips.add(topic_consumer.settings.name, skipped, now)


def fold_outside_changes(
    outside_consumer: OutsideConsumer, changes: OutsideChanges, now: float
) -> None:
    """Fold changes from ZooKeeper or a poll into the windows: commits, removals, owners."""
    cluster = outside_consumer.cluster
    with cluster.lock:
        commits = outside_consumer.commits_to_fold(changes.commits)
        commits = with_written_ms(commits, outside_consumer.read_before_ms(commits), now)
        cluster.windows.fold(commits, int(now))
        for group in groups_of(commits.filter(commits["offset"].is_null())):
            cluster.windows.forgotten.drop_group(group)  # it may have been deleted
        for group, owners in changes.owners.items():
            if not cluster.membership.has_members(group):  # else Kafka's records name the owners
                cluster.windows.set_owners(group, owners)
        cluster.note_queries(changes.queries)
    outside_consumer.records += len(changes.commits)
    outside_consumer.skips.add(outside_consumer.settings.name, changes.skipped, now)


def refresh_topics(
    cluster: ClusterState, admin: AdminClient, now: float, needed: AbstractSet[str] = frozenset()
) -> list[str]:
    """List the cluster's topics; drop the windows of those that were deleted or created again.

    Returns the names of those topics. A listing without the `needed` topics is incomplete.
    """
    topics = log_ends.list_topics(admin, cluster.topics, needed)
    with cluster.lock:
        lost = lost_topics(cluster.topics, topics)
        for topic in lost:
            if topic in topics.counts:
                replace_topic(cluster.windows, topic, int(cluster.topics_s), int(now))
            else:
                cluster.windows.delete_topic(topic)
        cluster.topics = topics
        if topics.is_whole:  # else commits keep waiting for topics that it may lack
            # The clock may have been set back.
            cluster.topics_before_s = cluster.topics_s if cluster.topics_s <= now else 0.0
            cluster.topics_s = now
        for group, owners in cluster.membership.name_topics(topics.names).items():
            cluster.windows.set_owners(group, owners)
    return lost


def refresh_ends(cluster: ClusterState, admin: AdminClient, now: float, timeout_s: float) -> None:
    """Read the log end of every partition whose leader answers in time.

    A broker that is known to be silent is not waited for: the others' ends would be as old.
    """
    if cluster.topics is None:
        return
    with cluster.lock:
        asked_s = cluster.clock()
        cluster.windows.ends.rows.begin_round(asked_s)
    leaders, silent = log_ends.apart(cluster.topics.leaders, {*cluster.silent_brokers})
    ends = log_ends.fetch_ends(admin, leaders, timeout_s=timeout_s)
    with cluster.lock:
        cluster.windows.set_log_ends(
            ends.table,
            cluster.topics.counts,
            complete_as_of_s=int(cluster.topics_before_s),
            now_s=cluster.clock(),  # earlier commits may be older than some of these ends
            asked_s=asked_s,
        )
        cluster.missing = {**ends.missing, **dict.fromkeys(silent, log_ends.NO_ANSWER)}
        if len(ends.table) or not cluster.topics.leaders:
            cluster.ends_s = now


def refresh_edges(cluster: ClusterState, fetch: log_edges.Fetch) -> None:
    """Read log starts and stable ends of topics that groups read, each round those of some.

    They are read after the ends: a stable end before the log end shows an open transaction. Who did
    not answer about the ends is not asked.
    """
    if cluster.topics is None:
        return
    with cluster.lock:
        read, due = read_topics(cluster.windows), edges_due(cluster.windows, cluster.random)
        between_s = cluster.windows.ends.rows.between_s
    silent = cluster.missing.keys()
    asked = cluster.edge_turns.choose(read, cluster.topics, silent, between_s, due)
    edges = fetch(cluster.topics.leaders, asked)
    with cluster.lock:
        held = cluster.windows.ends.refresh_edges(edges.starts, edges.stable, cluster.clock())
    cluster.edge_turns.note(asked, edges.missing, held, cluster.topics.ids)


def refresh_progress(
    topic_consumer: TopicConsumer,
    admin: AdminClient,
    now: float,
    timeout_s: float = log_ends.TIMEOUT_S,
) -> None:
    """Read where the offsets topic ends, and where its oldest open transaction starts.

    `now` is when this is requested: every record written before is before the end we get.
    """
    leaders, isolation = topic_consumer.leaders, topic_consumer.isolation
    with topic_consumer.cluster.lock:
        position = dict(topic_consumer.progress.position)
    end = stable = log_ends.fetch_ends(admin, leaders, timeout_s=timeout_s)
    if isolation is not log_ends.UNCOMMITTED:
        stable = log_ends.fetch_ends(admin, leaders, isolation=isolation, timeout_s=timeout_s)
    with topic_consumer.cluster.lock:
        topic_consumer.progress.see_ends(
            log_ends.by_number(end.table), log_ends.by_number(stable.table), now, position
        )


def reap_groups(
    cluster: ClusterState, admin: AdminClient, keep: AbstractSet[str], timeout_s: float
) -> list[str]:
    """Delete the groups that have no commit left on the brokers, except those in `keep`.

    A group that the brokers do not list may still exist: we request each of those by name.
    """
    with cluster.lock:
        ours = window_arrays(cluster.windows).groups
    # Listed after `ours`: a group that is created in between is not among ours.
    listed = group_offsets.list_groups(admin, timeout_s)
    if listed.error:
        raise KafkaException(listed.error)
    if not listed.groups:
        return []  # without the right to describe groups the list is empty; it is not an error
    unlisted = [group for group in ours if group not in listed.groups and group not in keep]
    # A random sample, so that each group gets its turn.
    some = random.sample(unlisted, min(len(unlisted), REAPED_AT_ONCE))
    doubted = group_offsets.with_coordinator(admin, some, timeout_s) if some else []
    with cluster.lock:
        held = {group: newest_commits(cluster.windows, group) for group in doubted}
    bare = group_offsets.without_offsets(admin, held, timeout_s)
    with cluster.lock:
        # A group that was created again in between has other commits now.
        dead = [group for group in bare if newest_commits(cluster.windows, group) == held[group]]
        for group in dead:
            cluster.windows.delete_group(group)
            cluster.membership.forget(group)
    return dead


def judge_cluster(
    cluster: ClusterState, sources: Sources, settings: JudgeSettings, now_s: int, store: Store
) -> ClusterBoard:
    """Judge every group as of when it was read; the board has the windows and positions used."""
    topic_consumers = sources.topic_consumers
    with cluster.lock:
        expiring_s = partial(expire_as_of_s, cluster, sources, now_s)
        cluster.windows.expire(int(cluster.restored_s) or now_s, expiring_s)
        all_read_s = sources.all_read_s()
        cluster.windows.ends.rows.forget_before(all_read_s)
        cluster.windows.ends.rows.past.thin(all_read_s, now_s)
        read_until_s = partial(sources.read_until_s, cluster.windows)
        view = window_arrays(cluster.windows, read_until_s, with_owned=settings.says_words)
        life = cluster.lives.read(cluster.windows, cluster.membership, view, now_s)
        policies = cluster.policies.of_lines(cluster.windows, view)
        verdicts = judge(view, settings, now_s, gone := cluster.gone_groups(view.groups, now_s))
        view.stopped[view.rows] = verdicts.partitions.rule == Rule.STOPPED
        note_losses(cluster.windows, view)
        kept_s = cluster.facts.offsets_retention_s
        numbers = measure(
            readings(cluster.windows, view, now_s, policies),
            verdicts.groups.first,
            cluster.retention.of_lines(cluster.facts, view),
            expires_s(view, life, kept_s, now_s, are_members_known=sources.are_members_known),
        )
        cluster.targets.choose(cluster.windows, view, numbers.partitions, cluster.ends_s)
        facts = Facts(
            numbers,
            read_s(cluster.windows, view),
            *edges_of(cluster.windows, view, policies),
            life=life,
            policies=policies,
            between_readings_s=cluster.windows.ends.rows.between_s,
            produced=cluster.windows.ends.rows.rate[view.end_row],
            allowed_lag=settings.allowed_lag,
            gone=gone,
        )
        grid = cluster.windows.grid
        judgement = judge_words(view, grid.memory, grid.past, verdicts, facts)
        if settings.says_words:
            verdicts, judgement = deciding(verdicts, judgement)
        return ClusterBoard(
            verdicts,
            store(cluster.name, view),
            cluster.windows.ends.of_topics(),
            numbers,
            judgement=judgement,
            generations={name: each.epoch for name, each in cluster.membership.groups.items()},
            positions={
                each.settings.name: dict(each.progress.position) for each in topic_consumers
            },
            outside=groups_by_consumer(cluster),
            idle=dict(cluster.membership.idle),
            facts=cluster.facts,
            life=life,
            others=cluster.lives.others(),
            policies=policies,
            queries=dict(cluster.queries),
        )


def expire_as_of_s(
    cluster: ClusterState, sources: Sources, now_s: int, groups: Sequence[str]
) -> Floats:
    """Up to when each group has been read; never for queries that live, though they are idle."""
    moments_s = sources.expire_as_of_s(cluster.windows, groups)
    return np.where(cluster.living(groups, now_s), -math.inf, moments_s)


def delete_group(cluster: ClusterState, group: str, topic: str | None) -> None:
    """Forget a group, or one topic of it, until it commits again."""
    with cluster.lock:
        cluster.windows.delete_group(group, topic)
        cluster.forget_queries([group] if topic is None else [])


def lost_topics(before: log_ends.TopicListing | None, now: log_ends.TopicListing) -> list[str]:
    """Topics that were deleted, or deleted and created again with another id."""
    if before is None:
        return []
    return [
        topic
        for topic in before.counts
        if topic not in now.counts
        or (topic in before.ids and before.ids[topic] != now.ids.get(topic, before.ids[topic]))
    ]
