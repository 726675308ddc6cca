"""Objects as the server holds them: what expressions see, and what is written back."""

from __future__ import annotations

from typing import Any

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.policies.rules.chain import PolicyObjects, create
from kubectl_kres.policies.rules.resources import decoded_copy

NONE = policies_of((), (), (), ())


def pod(metadata: Any = None, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", **spec.pop("container", {})}
    metadata = {"name": "p", **(metadata or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}


def test_empty_values_and_unknown_fields_are_gone_but_not_what_a_pointer_holds() -> None:
    found = decoded_copy(
        pod(
            {"labels": {}}, hostNetwork=False, hostUsers=False, nonsense=1, container={"env": [], "securityContext": {}}
        )
    )
    assert found["spec"] == {"hostUsers": False, "containers": [{"name": "c", "image": "i", "securityContext": {}}]}
    assert found["metadata"] == {"name": "p"}


def test_amounts_of_volumes_are_in_the_notation_of_the_server() -> None:
    found = decoded_copy(pod(volumes=[{"name": "v", "emptyDir": {"sizeLimit": "1024Mi"}}]))
    assert found["spec"]["volumes"][0]["emptyDir"] == {"sizeLimit": "1Gi"}


def test_kinds_that_are_in_no_table_are_left_alone() -> None:
    whole = {"apiVersion": "example.com/v1", "kind": "Thing", "spec": {"empty": [], "off": False}}
    assert decoded_copy(whole) == whole


def test_a_pod_that_waits_for_gates_is_stored_with_a_condition() -> None:
    [answer] = create(pod(schedulingGates=[{"name": "a.b/c"}]), "ns", NONE, Server(), PolicyObjects(SPACE))
    assert answer.stored_object is not None
    assert [one["reason"] for one in answer.stored_object["status"]["conditions"]] == ["SchedulingGated"]


def test_unknown_fields_are_told_whatever_refuses_the_pod() -> None:
    raw = {**pod(priorityClassName="none"), "nonsense": 1}
    [answer] = create(raw, "ns", NONE, Server(disabled_plugins=frozenset({"ServiceAccount"})), PolicyObjects(SPACE))
    assert answer.outcome.code == 403
    assert answer.outcome.warnings == ('unknown field "nonsense"',)


def refused(**spec: Any) -> str:
    metadata = spec.pop("metadata", None)
    [answer] = create(pod(metadata, **spec), "ns", NONE, Server(), PolicyObjects(SPACE))
    return answer.outcome.message


def test_host_processes_need_the_network_of_the_host() -> None:
    context = {"windowsOptions": {"hostProcess": True}}
    assert "Invalid value: false: hostNetwork must be true" in refused(securityContext=context)
    assert refused(securityContext=context, hostNetwork=True) == ""


def test_an_annotation_of_apparmor_says_what_the_field_says() -> None:
    key = "container.apparmor.security.beta.kubernetes.io/c"
    context = {"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}}
    said = refused(metadata={"annotations": {key: "unconfined"}}, container=context)
    assert "apparmor type in annotation and field must match" in said
    assert refused(metadata={"annotations": {key: "runtime/default"}}, container=context) == ""


SPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}, "status": {"phase": "Active"}}
