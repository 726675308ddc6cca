"""Which kinds are workloads, and what each does, is written once: lists of them elsewhere forget some."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from architecture.modules import trees

from kubectl_kres.model.kinds import BY_KIND, KINDS
from kubectl_kres.model.workload import Workload
from kubectl_kres.model.workload_kinds import WORKLOADS

TABLE = "kubectl_kres/model/workload_kinds.py"
#: An order of reads, not a selection: what is left out first where an answer would cost too many.
ORDERS = {("kubectl_kres/reports/pod/needs.py", "_WORTH")}
#: So many are a selection; two that are told apart are a rule of those two.
MANY = 3


def _selections(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the name that each literal selection is bound to, if it is, and its line."""
    names = {
        node.value: node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.Set | ast.List):
            values = node.elts
        elif isinstance(node, ast.MatchOr):
            values = [each.value for each in node.patterns if isinstance(each, ast.MatchValue)]
        else:
            continue
        if len({each.value for each in values if isinstance(each, ast.Constant)} & WORKLOADS.keys()) >= MANY:
            yield names.get(node, ""), node.lineno


def test_no_module_lists_them_by_hand():
    lists = {(path, name, line) for path, tree in trees().items() for name, line in _selections(tree)}
    assert {each for each in lists if each[0] != TABLE and each[:2] not in ORDERS} == set()


@pytest.mark.parametrize(
    "text", ['K = ("Job", "CronJob", "Deployment")', 'x in {"Job", "CronJob", "Pod", "DaemonSet"}']
)
def test_a_list_is_found(text: str):
    assert list(_selections(ast.parse(text)))


def test_the_table_is_that_of_the_structs():
    assert [kind.kind for kind in KINDS if kind.struct is Workload] == list(WORKLOADS)
    assert {BY_KIND[kind].names for kind in WORKLOADS} == {row.names for row in WORKLOADS.values()}
