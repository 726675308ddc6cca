"""How a case about what else admits is put to ``kubectl_kres.policies``."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from conformance.merge import merged
from conformance.systems import Data

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.model.objects import LimitRange, PriorityClass, ResourceQuota, RuntimeClass
from kubectl_kres.policies.rules.chain import PolicyAnswer, PolicyObjects, build_policy_objects, create
from kubectl_kres.policies.rules.change import change
from kubectl_kres.policies.rules.objects import pull_policy, template_of, with_defaults
from kubectl_kres.policies.rules.request import User

COMPARED = (
    "allowed", "code", "reason", "message", "unordered", "causes", "warnings", "object", "audit", "noAnswer",
)  # fmt: skip
NOT_COMPARED = {"firstLine": "says how to compare the message: up to its first line break"}
OPTIONAL = ("object", "audit")

#: The recorded namespaces had names with a random end, which literals in expressions do not equal.
NAMESPACE, ABSENT = "case-7f3k2", "absent-7f3k2"
OPERATIONS = {"CREATE", "UPDATE", "RESIZE", "STATUS", "DELETE", "EPHEMERAL", "SCALE"}
KNOWN_PARAMS = {("v1", "ConfigMap"), ("kres.example/v1", "Tenant")}
POLICIES = {"LimitRange": LimitRange, "ResourceQuota": ResourceQuota}
CLASSES = {"PriorityClass": PriorityClass, "RuntimeClass": RuntimeClass}
ADMIN = User("admin", ("system:masters", "system:authenticated"))


def play(case: Data, file: Data) -> list[dict[str, Any]]:
    """The answers to the request, each in the shape of ``expect``."""
    return [_shown(answer, case) for answer in possible(case, file)]


def required(case: Data, file: Data) -> bool:
    return case["request"]["operation"] in OPERATIONS


def rules(case: Data, file: Data) -> set[str]:
    found = {
        finding.rule for one in possible(case, file) if one.outcome.refusal for finding in one.outcome.refusal.findings
    }
    return found | {
        entry.rule for one in possible(case, file) for entry in one.outcome.journal if hasattr(entry, "rule")
    }


def possible(case: Data, file: Data) -> tuple[PolicyAnswer, ...]:
    """Every answer that the request can get."""
    request, given = case["request"], case.get("given", ())
    server = _server(file["server"])
    by_kind: dict[str, list[Data]] = {}
    for item in given:
        by_kind.setdefault(item["kind"], []).append(item)
    world = _world(request, by_kind, file["server"], server.version)
    namespace = ABSENT if "inNamespace" in request else NAMESPACE
    policies = policies_of(
        *(
            [_converted(item, kind, struct) for item in by_kind.get(kind, ())]
            for kind, struct in (*POLICIES.items(), *CLASSES.items())
        )
    )
    operation, item = request["operation"], request["object"]
    if operation == "CREATE":
        return create(item, namespace, policies, server, world)
    old = _stored(item, request, given)
    new = None if operation == "DELETE" else merged(old, item)
    return change(operation, old, new, namespace, policies, server, world)


def _converted(item: Data, kind: str, struct: Any) -> Any:
    """A quota's status is what the controller made of it; nothing is used by pods that were not recorded."""
    if kind == "ResourceQuota":
        hard = item["spec"].get("hard", {})
        item = {**item, "status": {"hard": hard, "used": dict.fromkeys(hard, "0")}}
    return msgspec.convert(item, struct, strict=False)


def _stored(item: Data, request: Data, given: Sequence[Data]) -> dict[str, Any]:
    """The object before the request: as given, else as recorded."""
    name = item["metadata"]["name"]
    found = next((one for one in given if one["kind"] == item["kind"] and one["metadata"]["name"] == name), None)
    old = {**(found or {"kind": item["kind"], "apiVersion": item["apiVersion"]}), **request.get("old", {})}
    return copy.deepcopy(old)


def _world(request: Data, by_kind: Mapping[str, list[Data]], recorded: Data, version: tuple[int, int]) -> PolicyObjects:
    def params(version: str, kind: str, namespace: str, _reference: Data | None) -> list[Data] | None:
        if (version, kind) not in KNOWN_PARAMS:
            return None
        found = [_in_namespace(_numbers(item, recorded)) for item in by_kind.get(kind, ())]
        return [item for item in found if item["metadata"]["namespace"] == namespace]

    user = request.get("as")
    disabled = "ServiceAccount" in recorded.get("disabledPlugins", ())
    accounts = None if disabled else {one["metadata"]["name"]: one for one in by_kind.get("ServiceAccount", ())}
    namespace = {"kind": "Namespace", "metadata": {"name": NAMESPACE}}
    for one in by_kind.get("Namespace", ()):
        namespace = {**one, "metadata": {**one["metadata"], "name": NAMESPACE}}
    return build_policy_objects(
        None if "inNamespace" in request else namespace,
        accounts,
        (by_kind.get("ValidatingAdmissionPolicy", ()), by_kind.get("ValidatingAdmissionPolicyBinding", ())),
        (by_kind.get("MutatingAdmissionPolicy", ()), by_kind.get("MutatingAdmissionPolicyBinding", ())),
        params=params,
        version=version,
        user=ADMIN if user is None else User(user["user"], (*user.get("groups", ()), "system:authenticated")),
        pods=[with_defaults(pod) for pod in by_kind.get("Pod", ())],
    )


def _numbers(item: Data, recorded: Data) -> Data:
    """With the fractions that the reader of the recordings keeps as texts."""
    for crd in recorded.get("crds", ()):
        if crd["spec"]["names"]["kind"] == item["kind"]:
            schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
            spec = {
                key: float(value) if schema.get(key, {}).get("type") == "number" else value
                for key, value in item.get("spec", {}).items()
            }
            return {**item, "spec": spec}
    return item


def _in_namespace(item: Data) -> dict[str, Any]:
    return {**item, "metadata": {"namespace": NAMESPACE, **item["metadata"]}}


def _server(recorded: Data) -> Server:
    major, minor = re.match(r"v?(\d+)\.(\d+)", recorded.get("emulatedVersion", recorded["version"])).groups()
    return Server(version=(int(major), int(minor)), gates=recorded["featureGates"])


def _shown(answer: PolicyAnswer, case: Data) -> dict[str, Any]:
    outcome = answer.outcome
    if answer.no_answer:
        return {"allowed": False, "noAnswer": True}
    shown: dict[str, Any] = {"allowed": outcome.allowed, "code": outcome.code}
    if not outcome.allowed:
        shown |= {"reason": outcome.reason, "message": outcome.message}
    causes = [{key: text for key, text in msgspec.structs.asdict(cause).items() if text} for cause in outcome.causes]
    rest = {
        "unordered": outcome.unordered, "causes": causes, "warnings": list(outcome.warnings),
        "audit": dict(answer.audit),
    }  # fmt: skip
    shown |= {key: value for key, value in rest.items() if value}
    if outcome.allowed and answer.stored_object is not None:
        shown["object"] = _pruned(answer.stored_object)
    text = json.dumps(shown).replace(NAMESPACE, "case").replace(ABSENT, "absent")
    return json.loads(text)


def _pruned(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Less the values that the API server always sets, as the README of the recordings lists them."""
    whole = copy.deepcopy(dict(whole))
    kind = whole.get("kind")
    metadata = {key: whole["metadata"][key] for key in ("name", "labels", "annotations") if whole["metadata"].get(key)}
    out: dict[str, Any] = {"metadata": metadata}
    if kind == "Pod":
        out["spec"] = _pruned_spec(whole["spec"])
        status = whole.get("status") or {}
        if "qosClass" in status:
            out["status"] = {"qosClass": status["qosClass"]}
        return out
    template = template_of(whole)
    if template is not None:
        spec = {"replicas": whole["spec"]["replicas"]} if "replicas" in whole.get("spec", {}) else {}
        shown = {"metadata": template.get("metadata") or {}, "spec": _pruned_spec(dict(template.get("spec") or {}))}
        out["spec"] = {**spec, "template": shown}
    elif kind in ("ResourceQuota", "LimitRange", "Tenant") and "spec" in whole:
        out["spec"] = whole["spec"]
    elif kind == "ConfigMap" and "data" in whole:
        out["data"] = whole["data"]
    return out


def _pruned_spec(spec: dict[str, Any]) -> dict[str, Any]:
    spec = copy.deepcopy(spec)
    usual = {
        "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30, "enableServiceLinks": True, "securityContext": {}, "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority",
    }  # fmt: skip
    for key, value in usual.items():
        if spec.get(key) == value:
            del spec[key]
    if spec.get("serviceAccount") == spec.get("serviceAccountName"):
        spec.pop("serviceAccount", None)
    tolerations = [one for one in spec.get("tolerations") or () if one.get("tolerationSeconds") != 300]
    spec.pop("tolerations", None)
    if tolerations:
        spec["tolerations"] = tolerations
    for key in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(key) or ():
            for name, value in (
                ("terminationMessagePath", "/dev/termination-log"), ("terminationMessagePolicy", "File"),
                ("resources", {}), ("imagePullPolicy", pull_policy(container.get("image", ""))),
            ):  # fmt: skip
                if container.get(name) == value:
                    del container[name]
    return spec
