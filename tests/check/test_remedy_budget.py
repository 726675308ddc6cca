"""Which findings get a tested remedy: those that are shown."""

from __future__ import annotations

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.check.context import RemedyBudget


def ref(space: str) -> ObjectRef:
    return ObjectRef("Deployment", "web", space)


def test_so_many_are_tested():
    budget = RemedyBudget(2)
    assert [budget.takes("KRES101", ref(name)) for name in "abc"] == [True, True, False]


def test_of_a_short_page_only_those_on_it():
    budget = RemedyBudget(shown=2)
    for name in "bd":
        assert budget.takes("KRES101", ref(name))
        budget.add_error("KRES101", ref(name))
    assert not budget.takes("KRES101", ref("e")), "two with names before it are worse"
    assert budget.takes("KRES101", ref("c")), "one of the two comes after it"


def test_what_is_left_out_of_a_page_spends_the_budget_as_on_a_long_one():
    budget = RemedyBudget(1, shown=0)
    assert not budget.takes("KRES101", ref("a"))
    assert not budget.takes("KRES101", ref("b"))


def test_of_another_rule_after_the_errors_of_the_first():
    budget = RemedyBudget(shown=1)
    assert budget.shows("KRES111", ref("a"))
    budget.add_error("KRES101", ref("z"))
    assert not budget.shows("KRES111", ref("a"))
    assert RemedyBudget().shows("KRES111", ref("a"))
