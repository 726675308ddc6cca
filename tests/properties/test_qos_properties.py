"""The way to another class leads there, and sums of namespaces are those of their pods."""

from __future__ import annotations

from collections import Counter

import msgspec
from hypothesis import event, given
from hypothesis import strategies as st
from properties.generated import FEW, pod, pods, policies

from kubectl_kres.admission.base.draft import draft_pod
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import compute_class
from kubectl_kres.admission.quota.usage import stored_pod_usage
from kubectl_kres.admission.request.new_pod import admit
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.last_editor import FieldEdit
from kubectl_kres.reports.qos.qos_reach import CLASSES, AdmittedPod, find_reach
from kubectl_kres.reports.qos.qos_sums import SumCollector

SERVER = Server()


def obeyed(raw: Pod, edits: tuple[FieldEdit, ...]) -> Pod:
    """The manifest after the edits, made from their paths alone."""
    found = msgspec.json.decode(msgspec.json.encode(raw))
    for edit in edits:
        parts = edit.path.replace("[", ".").replace("]", "").split(".")
        if edit.path == "spec.resources":
            if edit.after is None:
                del found["spec"]["resources"]
            else:
                found["spec"]["resources"] = {}
            continue
        place = found
        for part in parts[:-1]:
            place = place[int(part)] if part.isdigit() else place.setdefault(part, {})
        if edit.after is None:
            del place[parts[-1]]
        else:
            place[parts[-1]] = edit.after
    return msgspec.convert(found, Pod)


@FEW
@given(pods(rare=False), policies(2, 1), st.sampled_from([SERVER, Server((1, 33))]))
def test_the_edits_lead_to_the_class_and_none_can_be_spared(raw, held, server):
    written = pod(raw)
    draft = admit(written, held, server)[0].draft
    for name in CLASSES:
        if name == compute_class(draft):
            continue
        found = find_reach(AdmittedPod(written, draft, held, server, lambda pod: admit(pod, held, server)), name)
        event(f"{compute_class(draft)} to {name}: {len(found.edits)} edits{', refused' if found.refused else ''}")
        if not found.edits:
            continue
        outcomes = admit(obeyed(written, found.edits), held, server)
        assert {compute_class(outcome.draft) for outcome in outcomes} == {name}
        assert bool(found.refused) == any(not outcome.allowed for outcome in outcomes)
        for edit in found.edits:
            rest = obeyed(written, tuple(one for one in found.edits if one != edit))
            fewer = admit(rest, held, server)
            assert {compute_class(one.draft) for one in fewer} != {name} or (
                not found.refused and any(not one.allowed for one in fewer)
            )


@FEW
@given(st.lists(st.tuples(pods(), st.sampled_from(["a", "b"]), st.sampled_from(["Running", "Succeeded"])), max_size=6))
def test_sums_are_those_of_the_pods(found):
    adding, usage, classes = SumCollector(SERVER), {}, Counter()
    finished = 0
    for raw, space, phase in found:
        one = pod({**raw, "metadata": {"name": "p", "namespace": space}, "status": {"phase": phase}})
        adding.add(one)
        if phase == "Succeeded":
            finished += 1
            continue
        draft = draft_pod(one, SERVER)
        classes[space, compute_class(draft)] += 1
        for name, quantity in stored_pod_usage(one, draft).items():
            usage[space, name] = usage.get((space, name), 0) + quantity.nano
    *spaces, total = adding.sums()
    assert total.total
    assert (total.finished, total.pods, total.namespaces) == (finished, classes.total(), len({one[1] for one in found}))
    for one in spaces:
        assert one.classes == {name: classes[one.namespace, name] for name in CLASSES}
        for side, values in (("requests", one.requests), ("limits", one.limits)):
            for name, text in values.items():
                assert parse(text).nano == usage.get((one.namespace, f"{side}.{name}"), parse(text).nano)
        assert {
            f"{side}.{name}" for side, values in (("requests", one.requests), ("limits", one.limits)) for name in values
        } >= {key for space, key in usage if space == one.namespace and key.startswith(("requests.", "limits."))}
    for name in ("cpu", "memory"):
        assert parse(total.requests.get(name, "0")).nano == sum(
            amount for (_, key), amount in usage.items() if key == f"requests.{name}"
        )
