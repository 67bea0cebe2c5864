"""Notifiers tried on a made-up incident: before anything starts, and by `warren notify-test`."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from warren.config import (
    AlertmanagerNotifier,
    Config,
    HttpNotifier,
    Loaded,
    Notifier,
    SlackNotifier,
)
from warren.errors import ConfigError, NotifierUnknown, SendFailed
from warren.model.status import Status
from warren.notify.due_message import missing_result
from warren.notify.lag_rules import LagRule
from warren.notify.message import (
    DigestLine,
    Event,
    GroupResult,
    Message,
    Offset,
    PartitionResult,
    Sender,
)
from warren.notify.senders.choose import Writer, sender

CLUSTER, GROUP = "sample-cluster", "sample-group"
LASTED_MS = 600_000
NOW_MS = 1_700_000_000_000  # any moment, where what is written is thrown away


def sample(event: Event, now_ms: int) -> Message:
    """A group of three partitions, two of them bad, that opens an incident or closes it."""
    result = _bad(now_ms) if event == "open" else _good(now_ms)
    start_ms = now_ms if event == "open" else now_ms - LASTED_MS
    return Message(event, CLUSTER, GROUP, "sample-incident", start_ms, now_ms, result)


def vanished(now_ms: int) -> Message:
    """The close of a group that is gone."""
    result = missing_result(CLUSTER, GROUP)
    return msgspec.structs.replace(sample("close", now_ms), result=result)


def digest_of(event: Event, now_ms: int) -> Message:
    """Two groups in one message."""
    one = sample(event, now_ms)
    status, lag = one.result.status, one.result.total_lag
    line = DigestLine(CLUSTER, GROUP, status, lag, one.id, one.start_ms)
    result = GroupResult("", "", status, 1.0, (), 0, None, 2 * lag)
    return Message(event, "", "", "", one.start_ms, now_ms, result, digest=(line, line))


def _bad(now_ms: int) -> GroupResult:
    stopped = _partition(1, Status.STOP, 4_200, now_ms)
    slow = _partition(2, Status.WARN, 1_300, now_ms)
    return GroupResult(CLUSTER, GROUP, Status.ERR, 1.0, (stopped, slow), 3, stopped, 5_500)


def _good(now_ms: int) -> GroupResult:
    return GroupResult(
        CLUSTER, GROUP, Status.OK, 1.0, (), 3, _partition(1, Status.OK, 0, now_ms), 0
    )


def _partition(number: int, status: Status, lag: int, now_ms: int) -> PartitionResult:
    start = Offset(1_000, now_ms - LASTED_MS, now_ms - LASTED_MS, 100)
    end = Offset(9_000, now_ms, now_ms, lag)
    return PartitionResult(
        "sample-topic", number, "/192.0.2.1", "sample-client", status, start, end, lag, 1.0
    )


def rehearse(loaded: Loaded) -> None:
    """Write a sample of every message; raises ConfigError with every notifier that cannot."""
    problems = [
        problem
        for notifier in loaded.config.notifiers.values()
        for problem in _problems(notifier, loaded.config)
    ]
    if problems:
        raise ConfigError(loaded.path, problems)


def events(notifier: Notifier) -> Iterator[Event]:
    """What a notifier ever sends."""
    yield "open"
    if notifier.send_close:
        yield "close"


def _problems(notifier: Notifier, config: Config) -> Iterator[str]:
    prefix = f"notifier.{notifier.name}"
    try:
        made = sender(notifier, config)
    except SendFailed as error:
        yield _placed(prefix, error)
        return
    try:
        for message in _samples(notifier, made):
            made.write(message)
    except SendFailed as error:
        yield _placed(prefix, error)


def _samples(notifier: Notifier, made: Writer) -> Iterator[Message]:
    """Every kind of message that the notifier may have to write."""
    for event in events(notifier):
        yield sample(event, NOW_MS)
        if notifier.rate and made.digests(event):
            yield digest_of(event, NOW_MS)
    if notifier.send_close:
        yield vanished(NOW_MS)
    if notifier.threshold <= Status.OK:
        yield msgspec.structs.replace(sample("close", NOW_MS), event="open", id="", start_ms=0)
    if LagRule.of(notifier):
        yield msgspec.structs.replace(sample("close", NOW_MS), event="open", reason="lag is 9")


def _placed(prefix: str, error: SendFailed) -> str:
    text = str(error)
    return text if text.startswith(prefix) else f"{prefix}: {text}"


def try_notifier(config: Config, name: str, tell: Callable[[str], object]) -> None:
    """Send a sample open, and its close if there is any way to; tell what the receiver says."""
    notifier = config.notifiers.get(name.lower())
    if notifier is None:
        raise NotifierUnknown(name, config.notifiers)
    tried = _closing(notifier)
    with closing(sender(tried, config)) as made:
        for event in events(tried):
            tell(f"{event}: {_answer(made, event, notifier.name)}")
    if not tried.send_close:
        tell("close: not sent, as send-close is not set")


def _closing(notifier: Notifier) -> Notifier:
    """The same with closes, if it can write one: what was made up must not stay open."""
    match notifier:
        case SlackNotifier() | AlertmanagerNotifier():
            can_close = True
        case HttpNotifier():
            can_close = bool(notifier.url_close) and Path(notifier.template_close).is_file()
        case _:
            can_close = Path(notifier.template_close).is_file()
    return msgspec.structs.replace(notifier, send_close=notifier.send_close or can_close)


def _answer(made: Sender, event: Event, name: str) -> str:
    try:
        return made.send(sample(event, int(time.time() * 1000)))
    except SendFailed as error:
        raise SendFailed(f"notifier {name}, {event}: {error}", retry=error.retry) from error
