import pytest

from warren.config import GroupFilter
from warren.model.group_filter import compiled


def test_a_group_is_accepted_by_what_is_found_in_its_name() -> None:
    cases = {
        "no lists": (GroupFilter(), "any", True),
        "found anywhere": (GroupFilter("port"), "important", True),
        "not found": (GroupFilter("^port"), "important", False),
        "denied": (GroupFilter("", "^console-"), "console-consumer-1", False),
        "not denied": (GroupFilter("", "^console-"), "my-console-", True),
        "allowed and denied": (GroupFilter("a", "b"), "ab", False),
        "a byte that is no UTF-8": (GroupFilter("^.$"), "\udcff", True),
        "half a surrogate pair": (GroupFilter("^x.y$"), "x\ud83dy", True),
        "other scripts": (GroupFilter("^\\p{Hangul}+$"), "그룹", True),
        "case counts": (GroupFilter("A"), "a", False),
        "a flag of RE2's": (GroupFilter("(?i)A"), "a", True),
        "a line break in the name": (GroupFilter("^a$"), "b\na", False),
    }

    wrong = [name for name, (lists, group, ok) in cases.items() if lists.accepts(group) != ok]

    assert wrong == []


def test_a_pattern_is_refused_quietly_and_with_its_reason(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(ValueError, match=r"missing \)"):
        compiled("(")

    assert capfd.readouterr().err == ""


def test_what_only_perl_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid perl operator"):
        compiled("(?=x)")
