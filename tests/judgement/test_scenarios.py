"""What users of lag monitors saw, on a simulated clock: is it judged as people mean it?"""

import pytest
from judgement.conftest import Report, Scenario, is_ours
from support.expectations import wrong_numbers, wrong_verdicts
from support.scenario_run import Said, run

# Burrow's rules say the right thing of these. They know ten commits and nothing else.
RIGHT_BY_BURROW = frozenset(
    "A1 A12 A13 A3 B6 C1 D1 D10 D13 D15 D6 D8 E2 F1twin G1 G3 H10 H4 H6".split()  # noqa: SIM905 - a list of names
)


@pytest.fixture(scope="module")
def said(scenarios: list[Scenario]) -> dict[str, list[Said]]:
    """By evaluator, what was said of each scenario."""
    return run(scenarios)


def test_every_scenario_is_judged_as_people_mean_it(
    scenarios: list[Scenario], said: dict[str, list[Said]], report: Report
) -> None:
    wrong = {}
    for scenario, heard in zip(scenarios, said["warren"], strict=True):
        failures = [*wrong_verdicts(scenario, heard), *wrong_numbers(scenario, heard)]
        report(scenario, failures)
        if failures:
            wrong[scenario["id"]] = failures
    assert wrong == {}


@pytest.mark.skipif(not is_ours(), reason="which of others Burrow judges rightly is not known")
def test_burrow_rules_say_of_the_scenarios_what_they_always_said(
    scenarios: list[Scenario], said: dict[str, list[Said]]
) -> None:
    right = {
        each["id"]
        for each, heard in zip(scenarios, said["caching"], strict=True)
        if not [*wrong_verdicts(each, heard)]
    }

    assert right == RIGHT_BY_BURROW
