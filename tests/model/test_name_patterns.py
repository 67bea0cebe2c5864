"""Lists of names and regular expressions, matched all at once."""

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from warren.model.name_patterns import MOST_IN_A_SET, NamePatterns, check_pattern


def test_names_and_expressions_match_whole_names() -> None:
    lists = [
        [],
        ["billing"],
        ["bill.*", "orders"],
        ["orders.v1"],
        ["(a|b)+"],
        ["a+b"],
        ["caf\u00e9"],
        ["(?i)BILLING"],
    ]
    cases = {
        "billing": {0, 1, 2, 7},
        "billing-eu": {0, 2},
        "my-billing": {0},
        "orders": {0, 2},
        "orders.v1": {0, 3},
        "orders-v1": {0, 3},
        "abba": {0, 4},
        "a+b": {0, 5},
        "aab": {0, 4, 5},
        "caf\u00e9": {0, 6},
        "": {0},
        "\udcff": {0},
    }

    patterns = NamePatterns(lists)

    assert {name: patterns.matching(name) for name in cases} == cases


def test_more_expressions_than_one_set_holds() -> None:
    count = 3 * MOST_IN_A_SET + 1
    patterns = NamePatterns([[f"group-{number}-[a-z]+", f"g{number}"] for number in range(count)])

    assert patterns.matching(f"group-{count - 1}-x") == {count - 1}
    assert patterns.matching("group-0-abc") == {0}
    assert patterns.matching(f"g{MOST_IN_A_SET}") == {MOST_IN_A_SET}
    assert patterns.matching("nothing") == frozenset()


def test_no_lists_match_nothing() -> None:
    assert NamePatterns([]).matching("billing") == frozenset()


@pytest.mark.parametrize("text", ["(", "a{1001}", "*", "(?=a)", r"\1"])
def test_what_re2_cannot_compile_is_refused_with_its_reason(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        check_pattern(text)


def compiles(text: str) -> bool:
    try:
        check_pattern(text)
    except ValueError:
        return False
    return True


texts = st.text(alphabet="ab.*+|", max_size=5).filter(compiles)


@given(st.lists(st.lists(texts, max_size=3), max_size=6), st.text(alphabet="ab.", max_size=6))
def test_all_at_once_is_as_one_by_one(lists: list[list[str]], name: str) -> None:
    expected = {
        at
        for at, each in enumerate(lists)
        if not each or any(text == name or re2.fullmatch(text, name) for text in each)
    }

    assert NamePatterns(lists).matching(name) == expected
