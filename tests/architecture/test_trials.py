"""Every case noted when advice and commands were tried on a real server has a test, found here by its number."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

_CASES = "reports/test_remedy_cases.py"
_TRIALS = "cli/test_cli_trials.py"
_TOGETHER = "cli/test_cli_together.py"
#: What was noted to the file of its test, and the test's name or the id of its case.
CASES = {
    "advice 1 must-specify hides the quota": (_CASES, "must-specify hides the quota behind it"),
    "advice 2 a bound hides the quota": (_CASES, "a LimitRange bound hides the quota"),
    "advice 3 another resource runs out": (_CASES, "for the missing pods another resource runs out"),
    "advice 3 across quotas": (_CASES, "two quotas of one name"),
    "advice 4 claims of all pods": (_CASES, "claims of all missing pods"),
    "advice 5 request over limit": (_CASES, "a request over its limit hides a bound"),
    "advice 6 ask for at most below min": (_CASES, "no room above the min is no proposal to ask for less"),
    "advice 7 the edit is refused": (_CASES, "an edit of the pod level brings those of its containers"),
    "advice 8 remedies that contradict": (_CASES, "ways that exclude each other are alternatives"),
    "advice 8 two orders": (_CASES, "two LimitRanges: it holds in every order"),
    "advice 9 another quota's must-specify": (
        _CASES, "test_a_must_specify_behind_another_quotas_bound_is_mended_as_well",
    ),
    "advice 10 full": (_CASES, "test_where_all_pods_exist_there_is_nothing_to_change"),
    "advice 11 blocked": ("reports/test_verdicts.py", "test_pods_that_something_else_rejects_are_blocked"),
    "advice 12 prophecies": ("reports/test_rolling.py", "test_no_room_helps_what_is_refused_for_another_reason"),
    "A1": ("reports/test_verdicts.py", "test_pods_that_something_else_rejects_are_blocked"),
    "A2 over hard": ("reports/test_rolling.py", "test_over_its_hard_a_quota_lets_no_rollout_through"),
    "A2 larger template": ("reports/test_rolling.py", "test_a_larger_template_rests_one_pod_short"),
    "A2 surge pod exists": ("reports/test_rolling.py", "test_the_surge_pod_of_a_rollout_is_not_all_of_it"),
    "A3": (_CASES, "test_the_figure_is_that_of_the_whole_rollout"),
    "A4": (_CASES, "a Job whose pods lack three resources"),
    "A5": (_CASES, "a LimitRange bound hides the quota"),
    "A6": ("reports/test_taskrun_report.py", "test_values_for_the_whole_task_are_mended_there"),
    "A7": (_CASES, "ways that exclude each other are alternatives"),
    "A8": (_CASES, "no room above the min is no proposal to ask for less"),
    "A9": (_CASES, "test_a_stateful_set_is_told_of_the_pod_that_is_missing_and_not_of_later_claims"),
    "A10": ("reports/test_verdicts.py", "test_missing_is_wanted_minus_pods_of_the_newest_template"),
    "A11": (_TRIALS, "test_a11_"),
    "A12 together": (_TOGETHER, "test_two_deployments_that_fit_alone_do_not_fit_together"),
    "A12 twenty replicas": (_TOGETHER, "test_of_twenty_replicas_two_fit"),
    "A13": ("reports/test_taskrun_report.py", "test_a_condition_that_nothing_has_yet_is_one_that_it_would_get"),
    "A14": (_TRIALS, "test_a14_"),
    "A15": (_TRIALS, "test_a15_"),
    "C1": (_CASES, "test_where_all_pods_exist_there_is_nothing_to_change"),
    "C2": (_TRIALS, "test_c2_"),
    "C3": (_CASES, "test_what_rests_says_why"),
    "C4": (_CASES, "test_commands_are_one_process_each_without_a_shell"),
    "C5": (_CASES, "test_edits_are_complete_enough_for_a_program"),
    "C6": (_TRIALS, "test_c6_"),
    "C7": ("docs/test_plain_words.py", "def test_"),
    "C8": (_TRIALS, "test_c8_"),
    "C9": ("reports/test_taskrun_report.py", "test_a_run_that_never_fits_is_not_told_to_free_room"),
    "C10": (_TRIALS, "test_c10_"),
    "C11 order": (_TRIALS, "test_c11_"),
    "C11 no such pool": ("reports/test_claim_or_pool_reports.py", "test_c11_"),
    "C12": (_TRIALS, "test_c12_"),
    "C13": (_TRIALS, "test_c13_"),
    "C15": (_TRIALS, "test_c15_"),
    "D": (_TRIALS, "test_d_"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_it_has_a_test(case: str):
    file, name = CASES[case]
    assert name in (TESTS / file).read_text()
