"""Text that means harm, in every field of every object, through every screen."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hostile.test_hostile_text import BAD, HOSTILE, deployment, events, live, pod, policies
from reports.stored import made, store_of
from reports.test_claim_or_pool_reports import READY, claim, condition, pool
from tui.driving import LARGE, SMALL, calm, drawn, drive
from tui.still import session_on

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.store.store import Coverage, ReadRequest
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.pod import TABS

OBEYED = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def renamed(raw: dict, name: str) -> dict:
    return {**raw, "metadata": {**raw["metadata"], "name": name}}


def app_of(text: str) -> Kres:
    """The text in names, labels, amounts, messages, owners, events, and in what the server refused."""
    plain = renamed(pod(text, labels={text: text, "app": text}), text or "p")
    held = store_of(
        *policies(text),
        plain,
        *live(text),
        deployment(text),
        *events(text),
        *pooled(text),
        *runs(text),
        made("Namespace", text, namespace=""),
        made("Namespace", "ns", namespace=""),
        unread=("Node",),
    )
    held.cover(ReadRequest("Event", "ns"), Coverage("denied", text))
    return Kres(session_on(held))


def pooled(text: str) -> list[dict]:
    """The text in names, resources, amounts, messages, selectors and managers of pools and claims."""
    short = condition("Exhausted", "True", text, f"requested: {text}=3, available: {text}=1; {text}")
    own = {"uid": "u", "name": text, "namespace": "ns", "claims": {text: "1", "requests.cpu": "1"}}
    green = pool(text, {text: "1", "requests.cpu": text, "limits.cpu": "1"}, spaces=("ns", text), claims={"ns": [own]})
    green["spec"] |= {"selectors": [{"matchLabels": {text: text}}], "defaults": {text: "1"}}
    green["status"]["conditions"].append(condition(text, "False", text, text))
    edits = [{"manager": text, "operation": "Update", "time": text, "fieldsV1": {"f:spec": {"f:pool": {}}}}]
    asks = {text: "3", "limits.cpu": "3"}
    waits = claim(text, READY, short, asks=asks, of=text, creationTimestamp=text, managedFields=edits)
    return [green, pool("green"), waits, claim("waits", READY, short, asks=asks, of="green"), claim("new", of=None)]


def runs(text: str) -> list[dict]:
    """The text in names of runs, steps and Tasks, in conditions and in what is asked for."""
    step = {"name": text, "image": text, "computeResources": {"requests": {"cpu": text, text: "1"}}}
    plain = {"name": "s", "computeResources": {"limits": {"cpu": "1"}}}
    failed = {"conditions": [{"type": "Succeeded", "status": "False", "reason": text, "message": text,
                              "lastTransitionTime": text}]}  # fmt: skip
    waiting = {"conditions": [{"type": "Succeeded", "status": "Unknown", "reason": "ExceededResourceQuota",
                               "message": text, "lastTransitionTime": text}]}  # fmt: skip
    tasks = [
        {"name": text, "taskRef": {"name": text}, "runAfter": ["b"]},
        {"name": "b", "taskSpec": {"steps": [plain]}},
    ]
    return [
        made("Task", text, spec={"steps": [step, plain]}),
        made("TaskRun", text, spec={"taskRef": {"name": text}}, status=failed, creationTimestamp=text),
        made("TaskRun", "waits", spec={"taskSpec": {"steps": [plain]}}, status=waiting),
        made("PipelineRun", "p", spec={"pipelineSpec": {"tasks": tasks}}, status=failed),
    ]


def places(text: str) -> list[Location]:
    refs = [ObjectRef("Pod", text, "ns"), ObjectRef("Pod", "p", "ns"), ObjectRef("Deployment", "web", "ns")]
    quotas = [ObjectRef("ResourceQuota", name, "ns") for name in (text, "broken", "scoped")]
    policy = [ObjectRef("LimitRange", text, "ns"), ObjectRef("Namespace", text)]
    pooled_refs = [
        ObjectRef("ResourcePool", text),
        ObjectRef("ResourcePoolClaim", text, "ns"),
        *(ObjectRef(kind, name, "ns") for kind, name in (("Task", text), ("TaskRun", "waits"), ("PipelineRun", "p"))),
    ]
    return [
        Location("overview"),
        *(Location(one) for one in LISTINGS),
        Location("pods", "ns", filter=text),
        Location("kinds"),
        *(Location("object", ref=refs[1], tab=tab) for tab, _ in TABS),
        *(Location("object", ref=ref, tab="text") for ref in refs[::2]),
        *(Location("quota", ref=ref) for ref in quotas),
        *(Location("object", ref=ref) for ref in policy),
        Location("report", ref=quotas[0]),
        *(Location("object", ref=ref) for ref in pooled_refs),
        *(Location("object", ref=ref, tab="text") for ref in pooled_refs[:2]),
    ]


def joined(*names: str) -> str:
    return "".join(HOSTILE[name] for name in names)


#: Every hostile text, as few walks through all screens as they can be put into: cells cut what is long.
WORDS = {
    "escapes": joined("escape", "c1"),
    "controls": joined("controls", "separators", "surrogate"),
    "unseen": joined("bidi", "zero width", "emoji"),
    "markup": joined("markup", "percent", "yaml"),
    "cells": joined("wide", "combining"),
    "digits": HOSTILE["digits"],
    "endless": joined("endless", "huge"),
}
CASES = [*((word, SMALL) for word in WORDS.values()), (joined("escape", "markup", "wide"), LARGE)]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("word", "size"), CASES, ids=[*WORDS, "large"])
def test_nothing_that_a_terminal_obeys_reaches_it_and_lines_keep_their_width(word, size):
    app = app_of(word)

    async def act(pilot):
        for place in places(word):
            app.go(place)
            await calm(pilot)
            app.show_remark(word)
            assert not app.return_code, place
            for strip in drawn(app):
                assert sum(segment.cell_length for segment in strip) == size[0], place
                line = "".join(segment.text for segment in strip)
                assert not {unicodedata.category(character) for character in line} & BAD, (place, ascii(line))
                assert not OBEYED.search(line), (place, ascii(line))

    drive(app, act=act, size=size)


def test_no_hostile_text_is_left_out():
    assert all(any(text in word for word in WORDS.values()) for text in HOSTILE.values())
