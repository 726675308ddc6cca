"""The line of a list says what the whole explanation says, whatever was looked at before it."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import event, given
from hypothesis import strategies as st
from properties.generated import FEW, KATA, STANDARD, Raw, pods, quota_lists, range_lists
from reports.outlined import outline_of, shown
from reports.stored import made, owned_by, store_of, subject

from kubectl_kres.admission.base.server import Server
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.explain.summary import Outlines
from kubectl_kres.store.store import Store

SERVERS = st.sampled_from([Server(), Server((1, 33)), Server((1, 27))])
UNREAD = st.sampled_from([(), (), ("LimitRange",), ("ResourceQuota", "Event"), ("PriorityClass",)])


def workload(name: str, spec: Raw, existing: int) -> list[Raw]:
    """A deployment and the ReplicaSet that makes its pods."""
    template = {"template": {"metadata": {"labels": {"app": name}}, "spec": spec}}
    status = {"replicas": existing, "readyReplicas": existing, "observedGeneration": 1}
    return [
        made("Deployment", name, spec={**template, "replicas": 2}, status=status, generation=1),
        made(
            "ReplicaSet", f"{name}-rs", spec={**template, "replicas": 2}, status=status, **owned_by("Deployment", name)
        ),
    ]


def objects(sent: list[Raw], lived: list[Raw], existing: int) -> list[Raw]:
    """Workloads with two pods each, of which one has other values, and two pods that nobody owns."""
    found: list[Raw] = []
    for number, (raw, other) in enumerate(zip(sent, lived, strict=True)):
        spec = raw["spec"]
        found += workload(f"w{number}", spec, existing)
        owner = owned_by("ReplicaSet", f"w{number}-rs")
        for name, live, more in (("a", spec, owner), ("b", spec, owner), ("c", other["spec"], owner), ("d", spec, {})):
            found.append(made("Pod", f"p{number}-{name}", spec=live, status={"phase": "Running"}, **more))
        found.append(made("Pod", f"p{number}-e", spec={**spec, "nodeName": "n"}, status={"phase": "Running"}))
    return found


def stored(held: list[Raw], policies: list[Any], unread: tuple[str, ...]) -> Store:
    store = store_of(*held, unread=unread)
    for one in policies:
        store.add(one.kind, one)
    store.add("PriorityClass", STANDARD)
    store.add("RuntimeClass", KATA)
    return store


@FEW
@given(st.data(), range_lists(), quota_lists(), SERVERS, UNREAD, st.integers(0, 2))
def test_a_line_is_that_of_the_explanation(data, ranges, quotas, server, unread, existing):
    sent, lived = (data.draw(st.lists(pods(), min_size=2, max_size=2)) for _ in range(2))
    held = objects(sent, lived, existing)
    store, ask = stored(held, [*ranges, *quotas], unread), EvaluationOptions(server)
    lines = Outlines(store, ask)
    for raw in held:
        about = subject(f"{raw['kind']}/{raw['metadata']['name']}")
        wanted = outline_of(explain(store, about, ask))
        event(f"{wanted.verdict.outcome} {wanted.complete}")
        assert shown(lines.outline(about)) == shown(wanted)


@FEW
@given(pods(), range_lists(), range_lists(), SERVERS)
def test_a_policy_that_changes_is_looked_at_anew(raw, before, after, server):
    store, ask = stored(objects([raw], [raw], 2), list(before), ()), EvaluationOptions(server)
    lines, about = Outlines(store, ask), subject("Pod/p0-a")
    lines.outline(about)
    for one in after:
        store.add("LimitRange", msgspec.structs.replace(one))
    assert shown(lines.outline(about)) == shown(outline_of(explain(store, about, ask)))


@FEW
@given(pods(), pods(), quota_lists(), SERVERS)
def test_a_template_that_is_replaced_is_looked_at_anew(raw, other, quotas, server):
    store, ask = stored(objects([raw], [raw], 2), list(quotas), ()), EvaluationOptions(server)
    lines, about = Outlines(store, ask), subject("Pod/p0-a")
    lines.outline(about)
    for one in stored(objects([other], [raw], 2), [], ()).all("ReplicaSet"):
        store.add("ReplicaSet", one)
    assert shown(lines.outline(about)) == shown(outline_of(explain(store, about, ask)))


@FEW
@given(pods(), range_lists(), quota_lists(), SERVERS)
def test_of_a_file(raw, ranges, quotas, server):
    store, ask = stored([], [*ranges, *quotas], ()), EvaluationOptions(server)
    spec = {"template": {"spec": raw["spec"]}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "ns"}, "spec": spec}
    for kind, one in (("Pod/p", raw), ("Job/j", job)):
        about = subject(kind, one, "given.yaml")
        assert shown(Outlines(store, ask).outline(about)) == shown(outline_of(explain(store, about, ask)))
