"""How a batch is taken apart."""

import pyarrow as pa

from warren.sinks.points import Span, body, slices, spans


def test_moments_go_together_as_far_as_they_fit() -> None:
    cases: dict[str, tuple[list[tuple[int, int]], list[Span]]] = {
        "nothing": ([], []),
        "one": ([(1, 10)], [Span(1, 1)]),
        "all fit": ([(1, 4), (2, 6)], [Span(1, 2)]),
        "the third is too much": ([(1, 4), (2, 6), (3, 1)], [Span(1, 2), Span(3, 3)]),
        "one is too large": (
            [(1, 4), (2, 25), (3, 1)],
            [Span(1, 1), Span(2, 2, 0, 3), Span(2, 2, 1, 3), Span(2, 2, 2, 3), Span(3, 3)],
        ),
    }

    wrong = {name: list(spans(c, 10)) for name, (c, e) in cases.items() if list(spans(c, 10)) != e}

    assert wrong == {}


def test_requests_hold_every_text_once() -> None:
    texts = pa.chunked_array([["a\n", "bb\n", "é\n"], ["c\n"], pa.array([], pa.string())])

    bodies = [bytes(body(some)).decode() for some in slices(texts, 2)]

    assert bodies == ["a\nbb\n", "é\n", "c\n"]
