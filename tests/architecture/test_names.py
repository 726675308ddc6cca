"""One name, one thing: no two public classes of the package share theirs."""

from __future__ import annotations

import ast
from collections import Counter

from architecture.modules import trees

#: Names that the JSON schemas or the API give to two structs; renaming either would break who reads them.
IN_SCHEMAS = {"Explanation", "Problem"}


def test_public_classes_have_names_of_their_own():
    named = Counter(
        node.name
        for tree in trees().values()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, count in named.items() if count > 1} == IN_SCHEMAS


#: Words that say nothing of what a variable holds.
EMPTY = {"one", "found", "held", "said"}


def _variables(tree: ast.AST) -> set[str]:
    """The variables and parameters of every function, without the fields of classes."""
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    ]
    inside = [node for function in functions for node in ast.walk(function)]
    return {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} | {
        node.arg for node in inside if isinstance(node, ast.arg)
    }


def test_variables_are_named_after_what_they_hold():
    named = {name: sorted(EMPTY & _variables(tree)) for name, tree in trees().items()}
    assert {name: words for name, words in named.items() if words} == {}
