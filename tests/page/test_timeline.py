"""Since when a group has its status: the strip below its chart, the list, the first tile."""

from pathlib import Path

from page.conftest import Look
from page.town import Group, Town, keeps_up, stalls
from playwright.sync_api import expect
from support.boards import NOW_S
from support.http_side import running

OTHERS = [f"other-{number}" for number in range(600)]  # more than changes are remembered


def groups(*, is_stalled: bool, are_others: bool) -> list[Group]:
    way = {False: keeps_up, True: stalls}
    others = [Group(name, "emails", way[are_others]) for name in OTHERS]
    return [Group("victim", "orders", way[is_stalled]), *others]


def test_a_status_is_not_told_of_a_time_whose_changes_are_forgotten(
    look: Look, tmp_path: Path
) -> None:
    """One group is stalled from the second board on, all the others from the third on."""
    town = Town(NOW_S, groups(is_stalled=False, are_others=False), steps=12)
    with running(tmp_path) as started:
        for is_stalled, are_others in ((False, False), (True, False), (True, True)):
            town.groups = groups(is_stalled=is_stalled, are_others=are_others)
            for _ in range(12):
                town.live()
            started.publish(town.board())
        page = look(started, "#/group/local/victim", timezone_id="UTC")
        strip = page.locator(".strip")
        expect(strip).to_have_attribute("aria-label", "Verdicts: ERR from 22:15:44 for 72 s")
        lines = page.locator(".happened li").all_text_contents()
        page.goto(f"http://127.0.0.1:{started.port}/#/changes")
        said = "The last 100 changes, back to 14 Nov 2023, 22:16:56 UTC, the newest first."
        expect(page.get_by_text("changes, back to")).to_have_text(said)
        page.goto("about:blank")

    assert lines == [
        "14 Nov 2023, 22:15:44 UTCthen it became ERR",
        "14 Nov 2023, 22:16:56 UTCwhat was before may be forgotten",
        "14 Nov 2023, 22:14:32 UTCWarren began to watch",
    ]


def test_on_the_first_board_nobody_knows_since_when(look: Look, tmp_path: Path) -> None:
    with running(tmp_path) as started:
        started.publish(Town(NOW_S, [Group("newsletter", "emails", stalls)], steps=12).board())
        page = look(started, "#/group/local/newsletter")

        first = page.locator(".fact").first
        expect(first.locator("dt")).to_have_text("ERR for")
        expect(first.locator("dd")).to_have_text("—")
        expect(first.locator("dd span")).to_have_attribute(
            "title", "Warren has just begun to watch."
        )
        page.goto("about:blank")
