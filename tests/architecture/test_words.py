"""Words that may not come back as names: functions are verbs with an object, values are nouns of the field."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from architecture.modules import trees

#: Names that said nothing to a reader, each replaced by a word of Kubernetes, of linters or of resolvers.
NAMES = {
    *("told", "held", "judged", "policed", "worded", "barring", "beyond", "folded", "made_by", "scene", "moment"),
    *("heeded", "uncollected", "gist", "barren", "judging", "tally"),
    *(
        "meant",
        "following",
        "resting",
        "added",
        "reply",
        "ends",
        "glimpse",
        "tabled",
        "mended",
        "scenes_of",
        "scene_needs",
    ),
    *("Scene", "Judged", "Tries", "Broken", "Place", "Way", "Rest", "Need", "Known", "Found", "Ask", "Start", "Tally"),
    *("Frame", "AnswerTurn", "Answered", "Happening", "Likeness", "Overrun", "Most", "End", "Standing", "Turn"),
}


#: Docstrings here are help pages and descriptions of tools, which golden files hold.
SHOWN = ("kubectl_kres/cli/", "kubectl_kres/mcp/", "kubectl_kres/api/")


def _defined(path: str, tree: ast.Module) -> Iterator[str]:
    """Functions, classes, parameters and variables of functions, and the module itself; not the fields of structs."""
    yield path.rpartition("/")[2].removesuffix(".py")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def test_words_that_were_replaced_do_not_come_back():
    found = {path: sorted(NAMES.intersection(_defined(path, tree))) for path, tree in trees().items()}
    assert {path: names for path, names in found.items() if names} == {}


def test_docstrings_do_not_use_them():
    phrases = ("is told", "are told", "was told", "the one door", "common room", "is judged", "are judged")
    found = [
        (path, phrase)
        for path, tree in trees().items()
        if not path.startswith(SHOWN) and "/commands/" not in path
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        for phrase in phrases
        if phrase in (ast.get_docstring(node) or "")
    ]
    assert found == []
