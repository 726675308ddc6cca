"""Words that may not come back as names: functions are verbs with an object, values are nouns of the field."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from architecture.modules import trees

#: Names that said nothing to a reader, each replaced by a word of Kubernetes, of linters or of resolvers.
NAMES = {
    *("told", "held", "judged", "policed", "worded", "barring", "beyond", "folded", "made_by", "scene", "moment"),
    *("heeded", "uncollected", "gist", "barren", "judging", "tally", "meant", "following", "resting", "added"),
    *("reply", "ends", "glimpse", "tabled", "mended", "scenes_of", "scene_needs"),
    *("Scene", "Judged", "Tries", "Broken", "Place", "Way", "Rest", "Need", "Known", "Found", "Ask", "Start", "Tally"),
    *("Frame", "AnswerTurn", "Answered", "Happening", "Likeness", "Overrun", "Most", "End", "Standing", "Turn"),
    *("Placed", "Others", "Built"),
}

#: Words that are no name for a function by themselves: "about" what, "kept" where, "again" why?
_BARE = """
about above absent added adding again against ahead alike all alone also another any apart applied as asked asking at
back bare because before begun behind below beside between blind both bound brought built by came cannot carried changed
charged chosen closing come counted cut decided denied differing distinct drawn due each either elsewhere ended ending
enforced enough ever every everywhere expected familiar fares few fewer fewest filled first fitted follows found from
full given gives giving gone had has have having heard held here hidden how in injected inner inside instead is itself
joined judged keep keeps kept known lacking lacks last late lean least left less like long loose lost lowered made may
meant meets merged mine misnamed missed missing more most moved moving named near nearest need needed needs neither
never new news no none not noted nothing now nowhere odd of off often old on once one only onto opened or other others
ours out outside over own parted passing past patched place placed places plain played quiet quoted raised raising
refused rejected released renamed repeated replaced resumed said same saw say says seen sent served settled shared shown
side sign silent since single sized some sorted sound spread stated still stored strange stuck such summed supposed
taken takes tells than that then there thinned this those through tight together told tried tries twice undecided under
unlike unread unseen until up used using usual waited waiting waits wanted wants was way ways weighed went what when
where which while who whole whose why wide with within without worst would written wrong
"""
BARE = frozenset(_BARE.split())

#: Functions that were called after a thing that they are of, or after half a sentence.
_REPLACED = """
raises
JudgedPod PolicingScreens _Heedless _as_told _badness _by_message _cut_off _give_way _is_quick _judge _judge_pods
_judged_variant _left_behind _looked_up _lower_to _made_good _once_there _only_named _only_takes _stricter _suffers
_tell_bug _tell_trouble _tell_usage _told_alone _told_apart _told_by _told_of _told_whose _unlooked _until_still
_untold _wanted_of _where_bound _woven account_of as_written ask_of asking_less asks_words at_moment at_rest bar_of
beside_template beyond_quota beyond_rules bound_in brought_class budget_of by_value capacity_of carried_out class_of
config_of counted_before cut_off demands_of do_lines edit_of enforced_beside entry_of extended_of failed_beside
fallen_short fill_along fits_none found_of gaps_of give_way glimpse_needs go_over having_all held_by history_of
in_files in_proportion in_sum in_use int_of is_held is_held_up judged_pod keeper_of kept_elsewhere kind_known lack_of
lacking_room lay_over left_of let_go likeness_of list_of lowered_in machine_of made_claim make_way maker_of managed_of
may_lines moment_of more_of needed_of nothing_helps number_of of_client of_containers of_current_template of_kinds
of_kubeconfig of_new of_pipeline of_pool of_quota of_step of_stored_pod of_struct of_task of_tasks of_workload on_tree
on_wire once_more optional_of origin_of pairs_of pane_of plan_of pods_in_a_row policed_object policing_needs
pool_glimpse price_of queue_of reach_of read_as ready_of refused_since rivals_of room_of run_likeness scaling_of
scene_of sent_as sentence_of sentences_of setters_of short_by shortage_of shown_of shown_source spare_of standard_of
stands_alone start_of start_of_live taken_down too_much_texts trail_lines trails tree_of trial_of turn_of twin_of
unseen_of until_still updated_of used_of waiting_of wanted_of way_lines ways_lines why_lines withheld_of without_gated
word_of world_of
"""
REPLACED = frozenset(_REPLACED.split())

#: What stays: an operator of an expression, conditions of Capsule by their state, refusals of Go's field errors, the
#: clock, all objects of a store, the sides of a bar, how many pods a controller wants, and what the Python interface
#: calls so.
PLAIN = {"bound", "denied", "_all", "_in", "_not", "_or", "now", "all", "left", "missing", "wanted"}

#: Names of variables and parameters that were replaced by what they hold.
RIDDLES = {"at", "of", "place", "places", "who", "way", "ways", "ask", "asks", "need", "needs", "own", "there", "it"}
RIDDLES |= {"said", "given", "where", "why", "scene", "told", "meant"}
#: Attributes and fields that `-o json`, a summary of a fleet or a snapshot prints under these names.
PRINTED = {
    *(
        "ClaimRow.place",
        "QueuePlace.place",
        "QueuePlace.of",
        "VerbEffect.said",
        "ClaimReport.asks",
        "ClaimReport.place",
    ),
    *("ClaimReport.ways", "QueueTurn.place", "QueueTurn.own", "Queued.place", "Queued.asks", "NextRollout.of"),
    *("UpgradeChange.why", "Total.of", "RunState.of", "NodeRemedy.why", "SetBound.of", "Admits.of", "Remedy.why"),
    *("Remedy.ask", "TrailClaim.asks", "OverviewArea.of", "Shared.own", "OomScore.of", "UsageShare.who"),
    *("UsageNode.who", "RolloutResult.of", "CoveredRead.need", "AssistantPod.there", "MissingReference.why"),
}

#: What an attribute may be called besides: what is used of a quota, what is left of it or beside it, the clock, and
#: what was denied.
PLAIN_ATTRIBUTES = {"_used", "_left", "_missing", "_now", "_denied"}


#: Docstrings here are help pages and descriptions of tools, which golden files hold.
SHOWN = ("kubectl_kres/cli/", "kubectl_kres/mcp/", "kubectl_kres/api/")


def _defined(path: str, tree: ast.Module) -> Iterator[str]:
    """Functions, classes, parameters and variables of functions, and the module itself; not the fields of structs."""
    yield path.rpartition("/")[2].removesuffix(".py")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
    yield from _variables(tree)


def _variables(tree: ast.Module) -> Iterator[str]:
    """Parameters, and what functions assign."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    yield inner.id


def test_words_that_were_replaced_do_not_come_back():
    found = {path: sorted((NAMES | REPLACED).intersection(_defined(path, tree))) for path, tree in trees().items()}
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
    """Of modules, of classes, and inside of others."""
    found = {
        path: sorted(
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name.lstrip("_") in BARE and node.name not in PLAIN
        )
        for path, tree in trees().items()
    }
    assert {path: names for path, names in found.items() if names} == {}


def test_variables_say_what_they_hold():
    found = {path: sorted(RIDDLES.intersection(_variables(tree))) for path, tree in trees().items()}
    assert {path: names for path, names in found.items() if names} == {}


def _attributes(tree: ast.Module) -> Iterator[str]:
    """Fields and attributes, each behind its class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for inner in ast.walk(node):
                if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
                    yield f"{node.name}.{inner.target.id}"
                elif isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
                    yield f"{node.name}.{inner.attr}"


def test_attributes_say_what_they_hold():
    """Those that only their class sees are neither riddles nor bare; of the others no riddle that is not printed."""

    def says_nothing(attribute: str) -> bool:
        name = attribute.partition(".")[2]
        bare = name.startswith("_") and name.strip("_") in BARE and name not in PLAIN_ATTRIBUTES
        return bare or (name.strip("_") in RIDDLES and attribute not in PRINTED)

    found = {path: sorted(set(filter(says_nothing, _attributes(tree)))) for path, tree in trees().items()}
    assert {path: names for path, names in found.items() if names} == {}


def test_printed_names_are_still_there():
    assert {name for tree in trees().values() for name in _attributes(tree)} >= PRINTED
