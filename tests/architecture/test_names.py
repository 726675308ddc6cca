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
