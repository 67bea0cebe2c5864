"""Situations that users reported: all of them, with the numbers of the reports or any like them."""

from support.expectations import wrong_numbers, wrong_verdicts
from support.scenario_run import run
from support.situations import situations


def test_every_situation_is_judged_as_people_mean_it() -> None:
    told = [*situations()]

    wrong = {
        scenario["id"]: failures
        for scenario, heard in zip(told, run(told)["warren"], strict=True)
        if (failures := [*wrong_verdicts(scenario, heard), *wrong_numbers(scenario, heard)])
    }

    assert wrong == {}
