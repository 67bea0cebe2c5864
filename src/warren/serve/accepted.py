"""What a client says it takes: the headers Accept and Accept-Encoding."""


def accepts_gzip(encodings: str) -> bool:
    return quality(encodings, "gzip") > 0


def quality(header: str, kind: str) -> float:
    """How much a client wants this kind, from 0 to 1; 0 when the header does not name it."""
    for entry in header.lower().split(","):
        name, *parameters = (part.strip() for part in entry.split(";"))
        if name == kind:
            return min((_q(each) for each in parameters), default=1.0)
    return 0.0


def _q(parameter: str) -> float:
    name, _, value = parameter.partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return min(max(float(value), 0.0), 1.0)
    except ValueError:
        return 1.0
