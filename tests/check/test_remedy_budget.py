"""Which findings get a tested remedy: those that are shown."""

from __future__ import annotations

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.check.context import RemedyBudget


def ref(space: str) -> ObjectRef:
    return ObjectRef("Deployment", "web", space)


def test_so_many_are_tested():
    budget = RemedyBudget(2)
    assert [budget.takes(ref(name)) for name in "abc"] == [True, True, False]


def test_of_a_short_page_only_those_on_it():
    budget = RemedyBudget(shown=2)
    for name in "bd":
        assert budget.takes(ref(name))
        budget.add_finding(ref(name))
    assert not budget.takes(ref("e")), "two with names before it are worse"
    assert budget.takes(ref("c")), "one of the two comes after it"


def test_what_is_left_out_of_a_page_spends_the_budget_as_on_a_long_one():
    budget = RemedyBudget(1, shown=0)
    assert not budget.takes(ref("a"))
    assert not budget.takes(ref("b"))
