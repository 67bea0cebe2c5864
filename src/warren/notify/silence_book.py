"""All silences: those of the configuration, and those that requests add and end.

The latter are kept in `general.state-dir`. Each change is a line in the log, with who made it: the
author is what a request claims, its address and whose token it had are what Warren has seen.
"""

import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
import structlog

from warren.config import Config
from warren.config.policy_sections import read_moment
from warren.model.name_patterns import NamePatterns, check_pattern
from warren.model.schedules import read_period
from warren.model.silence import Kind, Silence

log = structlog.get_logger()

MOST = 1_000  # that requests may add
MOST_PATTERNS = 100  # of one silence
LONGEST_TEXT = 1_000
FILE = "silences.json"


class _Request(msgspec.Struct, forbid_unknown_fields=True):
    clusters: list[str] = []
    groups: list[str] = []
    owners: list[str] = []
    begin: str = ""
    end: str = ""  # a moment
    duration: str = ""  # or how long from now
    comment: str = ""
    author: str = ""
    kind: Kind = "silence"


class Reply(NamedTuple):
    code: int
    answer: Mapping[str, object]

    def encoded(self) -> str:
        # Not msgspec's own writer: names may hold bytes that are not text.
        return json.dumps({"code": self.code, "answer": self.answer})


class SilenceBook:
    def __init__(self, config: Config, clock: Callable[[], float] = time.time) -> None:
        self._configured = [each.silence() for each in config.silences.values()]
        state = config.general.state_dir
        self._file = Path(state).absolute() / FILE if state else None
        self._clock = clock
        self._lock = threading.Lock()
        self._added = self._load()

    def all(self, now_s: float | None = None) -> list[Silence]:
        """Those that are not over, the configuration's first."""
        now_s = self._clock() if now_s is None else now_s
        with self._lock:
            return [each for each in (*self._configured, *self._added) if not each.is_over(now_s)]

    def listed(self, cluster: str = "", group: str = "") -> Reply:
        """All of them, or those that name a group or its cluster."""
        now_s = self._clock()
        every = self.all()
        if group:
            clusters = NamePatterns([each.clusters for each in every]).matching(cluster)
            groups = NamePatterns([each.groups for each in every]).matching(group)
            # Whom policies name as an owner is not known here.
            every = [
                each
                for at, each in enumerate(every)
                if at in clusters & groups and (not each.owners or each.groups)
            ]
        return Reply(200, {"silences": [_shown(each, now_s) for each in every]})

    def add(self, body: str, address: str = "", token: str = "") -> Reply:
        """Add a silence; all mistakes in the request are listed, and then nothing changes."""
        now_s = self._clock()
        try:
            request = msgspec.json.decode(body, type=_Request)
        except (msgspec.MsgspecError, UnicodeError) as error:
            return _refused([str(error)])
        mistakes, begin_s, end_s = _check(request, now_s)
        if mistakes:
            return _refused(mistakes)
        silence = Silence(
            id=secrets.token_hex(8),
            kind=request.kind,
            clusters=tuple(request.clusters),
            groups=tuple(request.groups),
            owners=tuple(request.owners),
            begin_s=begin_s,
            end_s=end_s,
            comment=request.comment,
            author=request.author,
            created_s=now_s,
        )
        with self._lock:
            kept = [each for each in self._added if not each.is_over(now_s)]
            if len(kept) >= MOST:
                return Reply(429, {"error": f"there are {MOST} silences already; end some first"})
            problem = self._save([*kept, silence])
        return self._reply("silence added", silence, problem, _seen(address, token))

    def end(self, number: str, address: str = "", token: str = "") -> Reply:
        with self._lock:
            found = next((each for each in self._added if each.id == number), None)
            if found is not None:
                problem = self._save([each for each in self._added if each is not found])
        if found is not None:
            return self._reply("silence ended", found, problem, _seen(address, token))
        if any(each.id == number for each in self._configured):
            return Reply(409, {"error": "this silence is in the configuration; remove it there"})
        return Reply(404, {"error": "there is no such silence"})

    def _reply(self, what: str, silence: Silence, problem: str, seen: Mapping[str, str]) -> Reply:
        shown = _shown(silence, self._clock())
        log.info(what, type="notifier", **shown, **seen)
        if problem:
            log.error("silences are not saved", type="notifier", problem=problem)
        is_kept = self._file is not None and not problem
        return Reply(200, {"silence": shown, "kept_over_restarts": is_kept})

    def _save(self, silences: list[Silence]) -> str:
        """Replace the added silences, and save them; returns why that failed."""
        self._added = silences
        if self._file is None:
            return ""
        unfinished = self._file.with_suffix(".unfinished")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(json.dumps(msgspec.to_builtins(silences)))
            unfinished.replace(self._file)
        except OSError as error:
            return str(error)
        return ""

    def _load(self) -> list[Silence]:
        if self._file is None:
            return []
        try:
            text = self._file.read_bytes()
            return msgspec.convert(json.loads(text), list[Silence])
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError) as error:
            log.error(  # noqa: TRY400  # a line, not a trace
                "saved silences cannot be read", type="notifier", problem=str(error)
            )
            return []


def _check(request: _Request, now_s: float) -> tuple[list[str], float, float]:
    mistakes: list[str] = []
    for name in ("clusters", "groups", "owners"):
        patterns = getattr(request, name)
        if len(patterns) > MOST_PATTERNS:
            mistakes.append(f"{name}: more than {MOST_PATTERNS}")
        for text in patterns[:MOST_PATTERNS]:
            _try(mistakes, name, check_pattern, text)
    if not (request.clusters or request.groups or request.owners):
        mistakes.append("groups: missing; name clusters, groups or owners")
    if max(len(request.comment), len(request.author)) > LONGEST_TEXT:
        mistakes.append(f"comment: longer than {LONGEST_TEXT} characters")
    begin_s = _try(mistakes, "begin", read_moment, request.begin) if request.begin else 0.0
    if bool(request.end) == bool(request.duration):
        mistakes.append("end: missing; give a moment as end, or a duration")
    end_s = 0.0
    if request.end:
        end_s = _try(mistakes, "end", read_moment, request.end)
    elif request.duration:
        end_s = max(begin_s, now_s) + _try(mistakes, "duration", read_period, request.duration)
    if not mistakes and end_s <= max(begin_s, now_s):
        mistakes.append("end: is not after its begin, or has passed")
    return mistakes, begin_s, end_s


def _try(mistakes: list[str], name: str, read: Callable[[str], object], text: str) -> float:
    try:
        found = read(text)
    except (ValueError, OverflowError) as error:
        mistakes.append(f"{name}: {text!r} is not allowed: {error}")
        return 0.0
    return float(found) if isinstance(found, int | float) else 0.0


def _seen(address: str, token: str) -> Mapping[str, str]:
    return {"address": address, "token": token or "none"}


def _refused(mistakes: list[str]) -> Reply:
    return Reply(400, {"error": "; ".join(mistakes), "mistakes": mistakes})


def _shown(silence: Silence, now_s: float) -> dict[str, object]:
    facts = msgspec.to_builtins(silence)
    moments = {name: _moment(facts.pop(f"{name}_s")) for name in ("begin", "end", "created")}
    return {**facts, **moments, "holds": silence.holds(now_s)}


def _moment(at_s: float | None) -> str | None:
    if not at_s:
        return None
    try:
        return datetime.fromtimestamp(at_s, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return str(at_s)
