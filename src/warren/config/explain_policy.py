"""Which policy holds for a group, topic by topic, and why: `check-config --explain-policy`."""

from collections.abc import Iterable, Iterator, Sequence

from warren.config.config import Config
from warren.config.policy_sections import PolicySettings
from warren.model.name_patterns import NamePatterns

NONE = "no policy; the defaults hold"


def explain_policy(config: Config, group: str, topics: Sequence[str]) -> str:
    """Explain for each cluster, and for each of these topics; without topics, for all there are."""
    lines = []
    for cluster in config.clusters:
        lines.append(f"group {group!r} in cluster {cluster!r}:")
        policies = config.policies.values()
        for topic in topics:
            lines += _of_topic(policies, cluster, group, topic)
        if not topics:
            lines += _of_all_topics(policies, cluster, group)
    return "\n".join(lines)


def _of_topic(
    policies: Iterable[PolicySettings], cluster: str, group: str, topic: str
) -> Iterator[str]:
    """Go through the policies in their order, to the one that holds."""
    skipped = []
    for policy in policies:
        wrong = [
            f"{kind} {name!r} matches none of {', '.join(patterns)}"
            for kind, patterns, name in _conditions(policy, cluster, group, topic)
            if not _matches(patterns, name)
        ]
        if not wrong:
            why = _why(policy, cluster, group, topic)
            yield f"  topic {topic!r}: policy {policy.name} ({why})"
            break
        skipped.append(f"    not {policy.name}: {'; '.join(wrong)}")
    else:
        yield f"  topic {topic!r}: {NONE}"
    yield from skipped


def _of_all_topics(policies: Iterable[PolicySettings], cluster: str, group: str) -> Iterator[str]:
    for policy in policies:
        if not (_matches(policy.clusters, cluster) and _matches(policy.groups, group)):
            continue
        why = _why(policy, cluster, group)
        if not policy.topics:
            yield f"  any other topic: policy {policy.name} ({why})"
            return
        yield f"  topics that match {', '.join(policy.topics)}: policy {policy.name} ({why})"
    yield f"  any other topic: {NONE}"


def _why(policy: PolicySettings, cluster: str, group: str, topic: str = "") -> str:
    return ", ".join(
        f"{kind} matches {_matching(patterns, name)}" if patterns else f"any {kind}"
        for kind, patterns, name in _conditions(policy, cluster, group, topic)
        if topic or kind != "topic"
    )


def _conditions(
    policy: PolicySettings, cluster: str, group: str, topic: str
) -> list[tuple[str, tuple[str, ...], str]]:
    return [
        ("cluster", policy.clusters, cluster),
        ("group", policy.groups, group),
        ("topic", policy.topics, topic),
    ]


def _matching(patterns: tuple[str, ...], name: str) -> str:
    return next(each for each in patterns if _matches((each,), name))


def _matches(patterns: tuple[str, ...], name: str) -> bool:
    return bool(NamePatterns([patterns]).matching(name))
