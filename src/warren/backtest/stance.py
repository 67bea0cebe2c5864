"""What decides whether somebody is paged: evaluator, policies, silences and notifiers.

A back-test compares two of them: the one of the configuration, and the one that a file proposes.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from warren import config
from warren.config import Config, Evaluator, Loaded, Notifier
from warren.config.findings import WITH_LINES
from warren.config.line_numbers import Lines
from warren.errors import ConfigError
from warren.model.policies import Policy
from warren.model.silence import Silence
from warren.model.status import Status
from warren.notify import incidents

EVALUATORS = ("caching", "warren")
ANYBODY = "any"  # the notifier of a configuration that has none
UNKNOWN_SECTION = ": unknown section"


class Stance(NamedTuple):
    says_words: bool  # else Burrow's rules decide
    allowed_lag: int  # the evaluator's
    policies: tuple[Policy, ...]
    silences: tuple[Silence, ...]
    notifiers: Mapping[str, incidents.Policy]


def configured(config_: Config) -> Stance:
    """The stance of a configuration."""
    return _stance(config_, config_.evaluator, config_.notifiers)


def proposed(base: Config, file: Path | None, evaluator: str) -> tuple[Stance, list[str]]:
    """The stance of a file, and what to know about it; `evaluator` is a class-name, or empty.

    Its policies take the place of all that are configured; so do silences, notifiers and the
    evaluator, if it has any. Raises ConfigError with every mistake and its line.
    """
    if file is None:
        stance, notes = configured(base), list[str]()
    else:
        stance, notes = _of_file(base, config.load(file, os.environ))
    if evaluator:
        stance = stance._replace(says_words=evaluator == "warren")
    return stance, notes


def _of_file(base: Config, loaded: Loaded) -> tuple[Stance, list[str]]:
    new = loaded.config
    problems = [*_misspelt(loaded), *_unknown_notifiers(base, loaded)]
    if problems:
        raise ConfigError(loaded.path, problems)
    names_evaluator = any(path.startswith("evaluator.") for path in _written(loaded))
    evaluator = new.evaluator if names_evaluator else base.evaluator
    stance = _stance(new, evaluator, new.notifiers or base.notifiers)
    if not new.silences:
        stance = stance._replace(silences=configured(base).silences)
    return stance, [*_notes(base, new, evaluator)]


def _notes(base: Config, new: Config, evaluator: Evaluator) -> Iterator[str]:
    if not new.policies:
        yield "the file has no [policy.NAME] section: no policy holds in the replay"
    burrow = [(each.allowed_lag, each.minimum_complete) for each in (base.evaluator, evaluator)]
    if not evaluator.says_words and burrow[0] != burrow[1]:
        yield (
            "Burrow's verdicts are taken as recorded: another allowed-lag or minimum-complete of "
            "[evaluator.*] is not replayed"
        )


def _stance(of: Config, evaluator: Evaluator, notifiers: Mapping[str, Notifier]) -> Stance:
    return Stance(
        evaluator.says_words,
        evaluator.allowed_lag,
        tuple(of.group_policies()),
        tuple(each.silence() for each in of.silences.values()),
        _paging(notifiers, of),
    )


def _paging(notifiers: Mapping[str, Notifier], of: Config) -> dict[str, incidents.Policy]:
    """When each notifier sends; nobody is paged about groups that are good.

    Without notifiers, one that is told everything once, and one for each that a policy names.
    """
    if not notifiers:
        named = {name for policy in of.policies.values() for name in policy.notify or ()}
        return {name: incidents.Policy(name, send_once=True) for name in (ANYBODY, *sorted(named))}
    round_ms = min(each.interval for each in notifiers.values()) * 1000
    paging = {name: incidents.Policy.of(each, round_ms) for name, each in notifiers.items()}
    return {
        name: each._replace(threshold=max(each.threshold, Status.WARN))
        for name, each in paging.items()
    }


def _written(loaded: Loaded) -> list[str]:
    return [path for path, origin in loaded.origins.items() if origin != "default"]


def _misspelt(loaded: Loaded) -> list[str]:
    """What serve only warns of would make a replay of something else."""
    return [
        text for text in loaded.unknown if text.startswith(WITH_LINES) or UNKNOWN_SECTION in text
    ]


def _unknown_notifiers(base: Config, loaded: Loaded) -> Iterator[str]:
    known = loaded.config.notifiers or base.notifiers
    lines = Lines.of(loaded.path)
    for policy in loaded.config.policies.values() if known else ():
        path = f"policy.{policy.name}.notify"
        for name in policy.notify or ():
            if name not in known:
                choice = ", ".join(sorted(known))
                text = f"{path}: there is no [notifier.{name}]; the notifiers are: {choice}"
                yield lines.added(text, path)
