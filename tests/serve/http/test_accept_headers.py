"""What clients say they take, and what they get."""

from warren.serve.http.answers import accepts_gzip
from warren.serve.metrics.exposition import choose_exposition


def test_gzip_is_taken_by_who_says_so() -> None:
    cases = {
        "gzip": True,
        "deflate, gzip;q=0.5": True,
        "GZIP ; q=1": True,
        "gzip;q=0": False,
        "gzip; q=0.0, identity": False,
        "gzip;q=nonsense": True,
        "x-gzip-like": False,
        "identity": False,
        "": False,
    }

    wrong = [header for header, expected in cases.items() if accepts_gzip(header) != expected]

    assert wrong == []


def test_openmetrics_is_for_who_prefers_it() -> None:
    cases = {
        "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3": True,
        "application/openmetrics-text": True,
        "text/plain;version=0.0.4;q=1,application/openmetrics-text;q=0.2,*/*;q=0.1": False,
        "application/openmetrics-text;q=0,text/plain": False,
        "*/*": False,
        "": False,
    }

    wrong = [
        header
        for header, expected in cases.items()
        if choose_exposition(header).is_openmetrics != expected
    ]

    assert wrong == []
