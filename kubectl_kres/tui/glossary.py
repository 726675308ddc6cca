"""The words of answers and what they mean, each once; docs/glossary.md has those of lines, too.

A key of several words, with commas between them, stands for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

#: What stands at the beginning of a line.
LABELS: Mapping[str, str] = {
    "fix, fix 1, fix 2": (
        "a change that is complete alone, more room before edits of the object; below it who owns "
        "the object, and the command"
    ),
    "or": "another fix, or another answer that the server may give",
    "run": "the command that makes the fix, where it has no line of its own",
    "next": "what to type to know more",
    "then": "what happens by itself once the fix is made",
    "server": "the server's own sentence, once, with how often and when it was said last",
    "values, pod, quotas": (
        "what admission sets; request / limit and QoS class of one pod; how many more such pods have room"
    ),
    "status, waits, time": (
        "what Tekton writes into a run; since when it waits and when it is tried next; what is left of a timeout"
    ),
    "seen": "what else the cluster says: events, conditions",
    "since": "how long it has been so; in JSON the time itself",
    "changed": "who wrote what refuses, last",
    "warning": "what is true beside the answer and may hurt",
    "assumed": "what could not be known, and what was taken instead",
    "unread": "what could not be read",
    "more": "what `--all` shows beside the short page",
}

#: Words within lines.
WORDS: Mapping[str, str] = {
    "admitted": "the API server would store the object as it is",
    "refused": "the API server answers with an error; the first line says which plugin and why",
    "blocked": (
        "nothing refuses it, but something else keeps it from coming: an earlier claim in a queue, "
        "a webhook, a missing object"
    ),
    "runs, starting, waits, fails, off, ended": "whether what is wanted works, beside what admission says of it",
    "conflict": "two objects demand what cannot both hold: a minimum above a maximum",
    "depends on LimitRange order": "the server applies LimitRanges in no fixed order, and the answers differ",
    "request, limit": "`resources.requests` and `resources.limits` of a container or of the pod",
    "default": "a value that a LimitRange or the API server sets where nobody wrote one",
    "effective request": "what one pod counts for: containers, init containers and sidecars, pod level, overhead",
    "pod total": "the effective requests and limits of the whole pod",
    "SPEC, EFFECTIVE, TODAY, LIVE": (
        "what the manifest says; what admission makes of it; the same today, for a pod that "
        "exists; what the running pod has"
    ),
    "set by": "the rule and the object that a value came from",
    "rule": "one thing that a server does, with a stable code such as `limitrange/default-request`",
    "step": "one entry in the history of a value: a rule set it, derived it, or checked it",
    "fix": "the smallest change that makes a refused object pass; `fixes` in JSON",
    "hard": "the amount that a quota or a pool allows",
    "used": "what the objects of the namespace count for, by `status.used` or by a recount",
    "drift": "`status.used` differs from what a recount finds",
    "scope": "the part of the pods or claims that a quota counts",
    "fits": "so many more pods have room in every quota that counts them",
    "rolling update": "new pods replace old ones, with extra ones (surge) for a while",
    "resize": "a change of the resources of a running pod",
    "QoS class": "Guaranteed, Burstable or BestEffort, derived from requests and limits",
    "pool": "Capsule's ResourcePool: amounts that several namespaces share",
    "claim": "Capsule's ResourcePoolClaim: a namespace asks a pool for amounts",
    "allocated": "the claim has its amounts",
    "queued": "the claim waits for amounts of its pool",
    "exhausted": "the pool has too little left for a claim",
    "unassigned": "the claim belongs to no pool",
    "managed quota": "the ResourceQuota that Capsule keeps in a namespace from its allocated claims",
    "task, run": "Tekton's Task and TaskRun; a PipelineRun makes a TaskRun for each task",
    "task-level resources": "`computeResources` of the run, divided among its steps",
    "as far as seen": "something that bears on the answer could not be read",
    "partial": "the answer lacks something it needs; the exit code is 4",
    "snapshot": "a file with what the commands read, to answer without the cluster",
    "gate": "a feature gate of the API server that a rule depends on",
}

#: Heads of columns, which stand on screens alone.
HEADS: Mapping[str, str] = {
    "TIGHTEST": "the name of the quota of which the least is left in proportion",
    "USED%": "how much of that is used; `over`: more than there is",
    "COUNTS": "the scopes of the quota: which pods it counts",
    "FREE, LEFT": "hard less used; of a node what is allocatable less what its pods request",
    "ASKED": "what the pods of the node request together",
    "READY": "how many pods are ready of those that are wanted",
    "WAITS FOR": "the quota, pool, queue or node that has too little room",
    "PLACE": "the place in that queue; `-`: room is given in no order",
    "SHORT BY": "what is missing",
    "WORST FIRST": "what is wrong, the fault that keeps most pods away first",
    "WHY QOS": "what keeps the pod from being Guaranteed, or Burstable",
    "WHAT HAPPENED": "an event, an edit or a condition, in its own words",
}


def words_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words of a screen that have a meaning of their own, with it: heads, then labels, then others."""
    lines = [line.strip(" │┌─>~x!?") for line in text.splitlines()]
    for words, meaning in HEADS.items():
        if any(re.search(rf"(^|  ){re.escape(word)}( |$|\^)", line) for word in _each(words) for line in lines):
            yield words, meaning
    for words, meaning in LABELS.items():
        if any(line.startswith(f"{word} ") for word in _each(words) for line in lines):
            yield words, meaning
    for words, meaning in WORDS.items():
        if any(re.search(rf"\b{re.escape(word)}\b", text) for word in _each(words)):
            yield words, meaning


def _each(words: str) -> list[str]:
    return words.split(", ")
