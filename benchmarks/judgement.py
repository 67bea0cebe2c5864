"""What each way of judging tells people, of stories and situations whose truth is known.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/judgement.py [STORIES] [SEED]

Precision: of the pages that were sent, how many were right. Recall: of the faults, how many were
told in time. Delay: from the fault to the page. Changes: of a group's status, in all stories.
"""

import json
import math
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from measured import where, write
from support.scenario_run import Said, run
from support.situations import situations
from support.stories import GROUP, Fault, Span, Story
from support.story_kinds import stories

FILES = Path(__file__).parent.parent / "tests" / "judgement" / "scenarios"
SLACK_S = 120.0  # after a fault has ended, pages about it are still right
STORIES, SEED = 500, 1
LAG, MINUTES = 1000, 5  # of the usual threshold rule


class Watched(NamedTuple):
    """A group of a scenario, and when a page about it would be right or wrong."""

    kind: str
    scenario: Mapping[str, Any]
    group: str
    faults: Sequence[Fault]
    counted: Sequence[Span]  # what is told outside of these is neither right nor wrong


class Score(NamedTuple):
    kind: str
    faults: int = 0
    told: int = 0
    pages: int = 0
    right: int = 0
    delays: tuple[float, ...] = ()
    changes: int = 0


def of_story(story: Story) -> Watched:
    counted = [(story.learns_until_s, math.inf)]
    return Watched(story.kind, story.scenario, GROUP, story.faults, counted)


def of_situation(scenario: Mapping[str, Any]) -> Iterator[Watched]:
    """A fault lasts from when it may be told until the group has to be quiet again."""
    told, quiet = scenario.get("told", ()), scenario.get("quiet", ())
    for group in sorted({each[0] for each in [*told, *quiet]}):
        spans = [(begin, end) for name, begin, end in quiet if name == group]
        faults = []
        for name, begin, until in told:
            over = min((at for at, _ in spans if at > begin), default=math.inf)
            if name == group:
                faults.append(Fault(begin, until, over, ()))
        counted = [*spans, *((fault.begin_s, fault.end_s) for fault in faults)]
        yield Watched(str(scenario["id"])[:1].upper(), scenario, group, faults, counted)


def score(watched: Watched, opened: Sequence[float], changes: int) -> Score:
    pages = [at for at in opened if _within(watched.counted, at)]
    told, delays = 0, []
    for fault in watched.faults:
        first = next((at for at in opened if at >= fault.begin_s), math.inf)
        if first <= fault.told_by_s:
            told += 1
            delays.append(first - fault.begin_s)
    right = sum(
        any(fault.begin_s <= at <= fault.end_s + SLACK_S for fault in watched.faults)
        for at in pages
    )
    faults = len(watched.faults)
    return Score(watched.kind, faults, told, len(pages), right, tuple(delays), changes)


def _within(spans: Sequence[Span], at: float) -> bool:
    return any(begin <= at <= end for begin, end in spans)


def by_threshold(lags: Sequence[tuple[float, int]]) -> tuple[list[float], int]:
    """When lag has been above the threshold for so many minutes, and how often that changes."""
    opened, changes, since, is_open = [], 0, math.inf, False
    for at, lag in lags:
        since = min(since, at) if lag > LAG else math.inf
        is_bad = at - since >= MINUTES * 60
        if is_bad and not is_open:
            opened.append(at)
        changes += is_bad != is_open
        is_open = is_bad
    return opened, changes


def scores(every: Sequence[Watched], said: Sequence[Said], *, threshold: bool) -> list[Score]:
    return [
        score(each, *_told(each, heard, threshold=threshold))
        for each, heard in zip(every, said, strict=True)
    ]


def _told(watched: Watched, heard: Said, *, threshold: bool) -> tuple[list[float], int]:
    group, until = watched.group, watched.scenario["until"]
    if threshold:
        return by_threshold([each for each in heard.lags.get(group, ()) if each[0] <= until])
    changes = 0
    for line, words in heard.words.items():
        if line[0] == group:
            changes += sum(at <= until for at, _ in words[1:])
    return heard.opened.get(group, []), changes


def line(name: str, each: Sequence[Score]) -> str:
    faults, told, pages, right, changes = (
        sum(getattr(score, of) for score in each)
        for of in ("faults", "told", "pages", "right", "changes")
    )
    delays = sorted(delay for score in each for delay in score.delays)
    delay = f"{median(delays):.0f} s" if delays else "-"
    late = f"{delays[math.ceil(0.95 * len(delays)) - 1]:.0f} s" if delays else "-"
    precision = f"{right / pages:.0%}" if pages else "-"
    recall = f"{told / faults:.0%}" if faults else "-"
    numbers = f"{pages} | {precision} | {faults} | {recall} | {delay} | {late} | {changes}"
    return f"| {name} | {numbers} |"


HEADER = """\
| | pages | precision | faults | recall | delay, median | delay, 95 % | changes |
|---|---:|---:|---:|---:|---:|---:|---:|"""


def tables(title: str, every: Sequence[Watched]) -> list[str]:
    """All of them by each way of judging, and then each way by kind."""
    said = run([each.scenario for each in every])
    ways = {
        "Burrow's rules": scores(every, said["caching"], threshold=False),
        f"lag > {LAG} for {MINUTES} minutes": scores(every, said["caching"], threshold=True),
        "Warren's evaluator": scores(every, said["warren"], threshold=False),
    }
    parts = ["", f"## {title}", "", HEADER, *(line(name, each) for name, each in ways.items())]
    for name, each in ways.items():
        kinds = defaultdict(list)
        for one in each:
            kinds[one.kind].append(one)
        parts += ["", f"### {name}", "", HEADER]
        parts += [line(kind, some) for kind, some in kinds.items()]
    return parts


def main(count: int, seed: int) -> None:
    files = [{"id": each.stem} | json.loads(each.read_text()) for each in sorted(FILES.glob("*"))]
    reported = [*files, *situations()]
    watched = [each for scenario in reported for each in of_situation(scenario)]
    began = time.monotonic()
    parts = tables(f"{len(reported)} situations from users' reports, by family", watched)
    told = [of_story(story) for story in stories(count, seed)]
    parts += tables(f"{count} random stories of two hours, seed {seed}, by kind", told)
    took = f"{where()}; {time.monotonic() - began:.0f} s."
    write("judgement.md", "\n".join(["# Judgement", "", took, *parts, ""]))


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:]]
    main(*(numbers + [STORIES, SEED][len(numbers) :]))
