"""The policy of each line: the first that matches its group and its topic."""

from hypothesis import given
from hypothesis import strategies as st
from support.batches import NOW, Record, batch, log_ends

from warren.model.policies import NO_POLICY, Policy
from warren.windows.policy_lines import PolicyBook
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

TOPICS = ("bills", "orders")


def windows(*groups: str) -> Windows:
    made = Windows()
    for topic in TOPICS:
        made.set_log_ends(log_ends(9, 9, topic=topic), dict.fromkeys(TOPICS, 2))
    commit(made, *groups)
    return made


def commit(made: Windows, *groups: str) -> None:
    records = (Record(1, 5, group=group, topic=topic) for group in groups for topic in TOPICS)
    made.fold(batch(*records), NOW)


def names(book: PolicyBook, of: Windows) -> list[str]:
    """The policy of the first partition of each pair."""
    lines = book.of_lines(of, window_arrays(of))
    assert lines is not None
    assert lines.of_line[::2].tolist() == lines.of_line[1::2].tolist()
    return [
        "" if each == NO_POLICY else lines.policies[each].name
        for each in lines.of_line[::2].tolist()
    ]


def test_the_first_that_matches_holds() -> None:
    policies = [
        Policy("elsewhere", clusters=("remote",)),
        Policy("orders of a", groups=("a",), topics=("orders",)),
        Policy("a or b", groups=("a|b",)),
        Policy("late", groups=("a", "c"), topics=("bills",)),
    ]

    book = PolicyBook(policies, "local")

    assert names(book, windows("a", "b", "c", "d")) == [
        "a or b", "orders of a", "a or b", "a or b", "late", "", "", ""
    ]  # fmt: skip
    assert book.of("a", "orders") == 0
    assert PolicyBook(policies, "remote").policies[0].name == "elsewhere"


def test_without_policies_there_are_no_lines() -> None:
    made = windows("a")

    assert PolicyBook((), "local").of_lines(made, window_arrays(made)) is None
    assert PolicyBook([Policy("p", clusters=("x",))], "local").policies == ()


def test_what_comes_later_and_takes_the_place_of_another_is_matched_anew() -> None:
    book, made = PolicyBook([Policy("p", groups=("a",))], "local"), windows("a", "b")
    assert names(book, made) == ["p", "p", "", ""]

    made.delete_group("a")
    commit(made, "c")  # in the place of a
    commit(made, "a")

    assert names(book, made) == ["p", "p", "", "", "", ""]


patterns = st.lists(st.sampled_from(["a", "b", "[ab]", "orders", "b.*", ".*s"]), max_size=2)


@given(st.lists(st.tuples(patterns, patterns), min_size=1, max_size=8))
def test_a_line_has_the_policy_that_its_names_have(lists: list[tuple[list[str], ...]]) -> None:
    policies = [
        Policy(str(at), groups=tuple(groups), topics=tuple(topics))
        for at, (groups, topics) in enumerate(lists)
    ]
    book, made = PolicyBook(policies, "local"), windows("a", "b", "bb")

    lines = book.of_lines(made, window_arrays(made))

    assert lines is not None
    expected = [book.of(group, topic) for group in ("a", "b", "bb") for topic in TOPICS]
    assert lines.of_line[::2].tolist() == expected
