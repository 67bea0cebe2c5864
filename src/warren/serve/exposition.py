"""Prometheus' text format."""

from collections.abc import Iterable, Mapping

Samples = Iterable[tuple[Mapping[str, object], float]]


def label(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def head(name: str, kind: str, about: str) -> str:
    return f"# HELP {name} {about}\n# TYPE {name} {kind}\n"


def family(name: str, kind: str, about: str, samples: Samples) -> str:
    """A whole family, for those that are small; nothing when it has no samples."""
    lines = [f"{name}{_labels(labels)} {_value(value)}\n" for labels, value in samples]
    return head(name, kind, about) + "".join(lines) if lines else ""


def _labels(labels: Mapping[str, object]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{label(str(text))}"' for name, text in labels.items()) + "}"


def _value(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
