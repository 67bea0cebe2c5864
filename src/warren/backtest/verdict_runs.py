"""Rows of history -> when each partition was bad: as recorded, and as it would be.

Each row is judged alone, by the live rule, from what history holds of it: so rows may come in any
order, from any file, in as many tasks as there are. What lasts from moment to moment is left to
`page_times`. Only rows that are bad in either way come out, and those that follow each other
without a change as one.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warren.backtest.stance import Stance
from warren.evaluate.warren_evaluator import line_settings
from warren.evaluate.word_rules import say
from warren.history.word_columns import READ, Recorded, has_words, recorded
from warren.model.arrays import AnyArray, Bytes, Ints, Mask
from warren.model.grounds import LineSettings, Sign
from warren.model.policies import LinePolicies
from warren.model.status import Status
from warren.model.tables import one_chunk
from warren.windows.policy_lines import PolicyBook

COLUMNS = ("group", "topic", "partition", *READ)
FOLDED = -1  # instead of a partition: the row stands for all of its topic
RUNS = pa.schema(
    [
        ("cluster", pa.string()),
        ("group", pa.string()),  # null: the row only counts
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("first", pa.int64()),  # places in the cluster's moments
        ("last", pa.int64()),
        ("did", pa.int8()),  # a `Word`, or a `Status` by Burrow's rules; 0: OK
        ("would", pa.int8()),
        ("would_go_on", pa.int8()),  # the same, if it was WARN before
        ("word", pa.int8()),  # as recorded; 0 also where Burrow's rules decide on both sides
        ("since_s", pa.int64()),  # since when the recorded word was said; 0: not known
        ("as_of_s", pa.int64()),  # of the first
        ("lag", pa.int64()),  # the most
        ("replayed", pa.int64()),  # verdicts
        ("differing", pa.int64()),  # that replay otherwise with the settings in force
        ("wordless", pa.int64()),  # rows that cannot be replayed
    ]
)
VALUES = ("did", "would", "would_go_on", "word", "since_s")


class Question(NamedTuple):
    """What is replayed; every task gets it."""

    did: Stance
    would: Stance
    moments: Mapping[str, Ints]  # of each cluster, in order

    @property
    def needs_words(self) -> bool:
        return self.did.says_words or self.would.says_words


def find_runs(rows: pa.Table, cluster: str, question: Question) -> Iterator[pa.Table]:
    """Judge rows of partitions of one cluster; the columns are at least `COLUMNS`."""
    worded = has_words(rows)
    counts = {"replayed": int(worded.sum()), "wordless": int((~worded).sum()), "differing": 0}
    if not question.needs_words:  # as recorded, of all rows there are
        bad = rows.filter(pc.greater(_by_burrow(rows), int(Status.OK)))
        counts |= {"replayed": len(rows), "wordless": 0}
        said = _bad_only(_by_burrow(bad).to_numpy().astype(np.uint8))
        nothing = np.zeros(len(bad), np.uint8)
        told = _Said(said, said, said, nothing, nothing.astype(np.int64))
        yield _runs(bad, cluster, question, told)
    else:
        busy = _busy(rows if worded.all() else rows.filter(pa.array(worded)))
        found = recorded(busy)
        again = say(found.grounds, found.settings).word
        counts["differing"] = int((again != found.word).sum())
        yield _runs(busy, cluster, question, _say(busy, found, cluster, question))
    columns = {"cluster": [cluster]} | {name: [count] for name, count in counts.items()}
    yield _conformed(pa.table(columns), 1)


class _Said(NamedTuple):
    did: Bytes
    would: Bytes
    would_go_on: Bytes
    word: Bytes
    since_s: Ints


def _busy(rows: pa.Table) -> pa.Table:
    """The rows that may be anything but OK: most have committed, and have read everything."""
    unread = rows["lag"].to_numpy() - rows["unreadable"].to_numpy()
    busy = (unread > 0) | (rows["signs"].to_numpy() != Sign.COMMITTED)
    busy |= (rows["word"].to_numpy() != 0) | (rows["burrow"].to_numpy() > Status.OK)
    return rows.filter(pa.array(busy)).combine_chunks()


def _by_burrow(rows: pa.Table) -> pa.Array:
    """The status by Burrow's rules; in rows without words it is the only one."""
    return one_chunk(pc.coalesce(rows["burrow"], rows["status"]).fill_null(0))


def _bad_only(status: Bytes) -> Bytes:
    return np.where(status > Status.OK, status, np.uint8(0))


def _say(rows: pa.Table, found: Recorded, cluster: str, question: Question) -> _Said:
    did = found.word if question.did.says_words else _bad_only(found.burrow)
    since_s = found.since_s.astype(np.int64)
    if not question.would.says_words:
        would = _bad_only(found.burrow)
        return _Said(did, would, would, found.word, since_s)
    settings = _settings(rows, cluster, question.would)
    would = say(found.grounds, settings).word
    would_go_on = would.copy()
    # WARN by age goes on a little below where it begins: where another limit holds than did, what
    # was recorded does not tell which.
    other = np.flatnonzero(_are_aged(settings) & ~_are_same(settings, found.settings))
    some = found.grounds.of(other)
    for signs, words in (
        (some.signs & ~np.int16(Sign.WARNED), would),
        (some.signs | np.int16(Sign.WARNED), would_go_on),
    ):
        words[other] = say(some._replace(signs=signs), settings.of(other)).word
    return _Said(did, would, would_go_on, found.word, since_s)


def _are_aged(settings: LineSettings) -> Mask:
    mask: Mask = ~np.isnan(settings.max_time_lag_s)
    return mask


def _are_same(one: LineSettings, other: LineSettings) -> Mask:
    """The lines of which both say the same."""
    pairs = zip(one, other, strict=True)
    same = [(left == right) | ((left != left) & (right != right)) for left, right in pairs]  # noqa: PLR0124  NaN
    mask: Mask = np.logical_and.reduce(same)
    return mask


def _settings(rows: pa.Table, cluster: str, stance: Stance) -> LineSettings:
    book = PolicyBook(stance.policies, cluster)
    policies = LinePolicies(book.policies, policy_of(rows, book)) if book.policies else None
    return line_settings(policies, len(rows), stance.allowed_lag)


def policy_of(rows: pa.Table, book: PolicyBook) -> AnyArray:
    """Which policy holds for each row: each pair of group and topic is matched once."""
    groups, topics = _encoded(rows["group"]), _encoded(rows["topic"])
    width = max(len(topics.dictionary), 1)
    pair = groups.indices.to_numpy().astype(np.int64) * width + topics.indices.to_numpy()
    pairs, place = np.unique(pair, return_inverse=True)
    names = (
        (groups.dictionary[int(each) // width].as_py(), topics.dictionary[int(each) % width])
        for each in pairs
    )
    numbers = [book.of(group, topic.as_py()) for group, topic in names]
    return np.array(numbers, np.int32)[place] if numbers else np.zeros(0, np.int32)


def _encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    return one_chunk(column.unify_dictionaries())


def _runs(rows: pa.Table, cluster: str, question: Question, said: _Said) -> pa.Table:
    """One row for each time in which nothing changed."""
    bad = np.flatnonzero((said.did > 0) | (said.would > 0) | (said.would_go_on > 0))
    rows, said = rows.take(pa.array(bad)), _Said._make(each[bad] for each in said)
    groups, topics = _encoded(rows["group"]), _encoded(rows["topic"])
    columns = {
        "group": groups.indices.to_numpy(),
        "topic": topics.indices.to_numpy(),
        "partition": rows["partition"].fill_null(FOLDED).to_numpy(),
        "at": np.searchsorted(question.moments[cluster], rows["moment_ms"].to_numpy()),
        **said._asdict(),
    }
    order = np.lexsort([columns[name] for name in ("at", "partition", "topic", "group")])
    columns = {name: column[order] for name, column in columns.items()}
    begins = np.ones(len(order), np.bool_)
    begins[1:] = np.diff(columns["at"]) != 1
    for name in ("group", "topic", "partition", *VALUES):
        begins[1:] |= columns[name][1:] != columns[name][:-1]
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(order))[: len(first)] - 1
    behind_ms = rows["behind_ms"].fill_null(0).to_numpy()[order]
    as_of_s = (rows["moment_ms"].to_numpy()[order] - behind_ms) // 1000
    lag = rows["lag"].fill_null(0).to_numpy()[order]
    found = {name: columns[name][first] for name in ("partition", *VALUES)}
    table = {
        "cluster": pa.repeat(cluster, len(first)),
        "group": groups.dictionary.take(pa.array(columns["group"][first])),
        "topic": topics.dictionary.take(pa.array(columns["topic"][first])),
        **found,
        "first": columns["at"][first],
        "last": columns["at"][last],
        "as_of_s": as_of_s[first],
        "lag": np.maximum.reduceat(lag, first) if len(first) else lag,
    }
    return _conformed(pa.table(table), len(first))


def _conformed(found: pa.Table, length: int) -> pa.Table:
    """With nulls for the columns that it lacks."""
    there = set(found.column_names)
    arrays = [
        found[field.name].cast(field.type)
        if field.name in there
        else pa.chunked_array([pa.nulls(length, field.type)])
        for field in RUNS
    ]
    return pa.Table.from_arrays(arrays, schema=RUNS)
