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

#: Words that are no name for a function of a module by themselves: "about" what, "kept" where, "again" why?
_BARE = """
about above absent added adding again against ahead alike all alone also another any apart applied as asked asking
at back bare because before begun behind below beside between blind both bound brought built by came cannot carried
changed charged chosen closing come counted cut decided denied differing distinct drawn each either elsewhere ended
ending enforced enough ever every everywhere expected familiar fares few fewer fewest filled first fitted follows
found from full given gives giving gone had has have having heard held here hidden how in injected inner inside
instead is itself joined judged keep keeps kept known lacking lacks last late lean least left less like long loose
lost lowered made may meant meets merged misnamed missed missing more most moved moving named near nearest needed
needs neither never new news no none not noted nothing now nowhere odd of off often old on once one only onto
opened or other others ours out outside over parted passing past patched placed plain played quiet quoted raised
raising refused rejected released renamed repeated replaced resumed said same saw say says seen sent served settled
shared shown side silent since single sized some sorted sound spread stated still stored strange stuck such summed
supposed taken takes tells than that then there thinned this those through tight together told tried tries twice
under undecided unlike unread unseen until up used using usual waited waiting waits wanted wants was weighed went
what when where which while who whole whose why wide with within without worst would written wrong
"""
BARE = frozenset(_BARE.split())

#: What is left: an operator of an expression, conditions of Capsule by their state, refusals of Go's field errors.
PLAIN = {"bound", "denied", "_all", "_in", "_not", "_or"}


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


def test_functions_are_no_bare_adverbs_or_participles():
    """At module level; methods and what stands inside a function have an object beside them."""
    found = {
        path: sorted(
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name.lstrip("_") in BARE and node.name not in PLAIN
        )
        for path, tree in trees().items()
    }
    assert {path: names for path, names in found.items() if names} == {}
