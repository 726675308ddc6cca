"""Parameters of policies on a real server: what is predicted of a pod is what the server answers to it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from controlplane import ControlPlane
from e2e.asking import Asking, Reply
from e2e.differential import until
from e2e.plugin import environment

pytestmark = pytest.mark.e2e

ADMITTING = "/apis/admissionregistration.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "rules.kres.example.com"
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap"}
CEILING = {"apiVersion": f"{GROUP}/v1", "kind": "Ceiling"}
TENANT = {"apiVersion": "capsule.clastix.io/v1beta2", "kind": "Tenant"}
#: Its plural is none that could be guessed, and it stands in no namespace.
ROOF = {"apiVersion": f"{GROUP}/v1", "kind": "Roof"}
BOX = {"name": "app", "image": "app:1", "resources": {"requests": {"cpu": "400m"}}}
CPU = "quantity(object.spec.containers[0].resources.requests.cpu)"
OF_DATA = f"{CPU}.compareTo(quantity(params.data.cpu)) <= 0"
OF_SPEC = f"{CPU}.compareTo(quantity(params.spec.cpu)) <= 0"
SAYS = "'at most ' + params.{}.cpu + ' by ' + params.metadata.name"


class Case(NamedTuple):
    """``kind``: the paramKind. ``bindings``: the paramRef of each. ``denied``: texts of which the server gives one.

    ``expression``: another one than that the parameter bounds the pod's cpu.
    """

    kind: dict[str, str]
    bindings: tuple[dict[str, Any] | None, ...]
    denied: tuple[str, ...]
    objects: tuple[dict[str, Any], ...] = ()
    failure: str = "Fail"
    expression: str = ""


def config(name: str, cpu: str, **labels: str) -> dict[str, Any]:
    return {**CONFIG, "metadata": {"name": name, "labels": labels}, "data": {"cpu": cpu}}


def ceiling(name: str, cpu: str, **labels: str) -> dict[str, Any]:
    return {**CEILING, "metadata": {"name": name, "labels": labels}, "spec": {"cpu": cpu}}


def named(name: str, absent: str = "Deny", **more: str) -> dict[str, Any]:
    return {"name": name, "parameterNotFoundAction": absent, **more}


def labelled(absent: str = "Deny", **labels: str) -> dict[str, Any]:
    return {"selector": {"matchLabels": labels}, "parameterNotFoundAction": absent}


NO_PARAMS = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
UNSERVED = "failed to find resource referenced by paramKind: '{}/v1, Kind=Nothing'"
NO_TENANT = "failed to find resource referenced by paramKind: 'capsule.clastix.io/v1beta2, Kind=Tenant'"
CASES = {
    "passes": Case(CONFIG, (named("limits"),), (), (config("limits", "500m"),)),
    "fails": Case(CONFIG, (named("limits"),), ("at most 200m by limits",), (config("limits", "200m"),)),
    "missing-deny": Case(CONFIG, (named("limits"),), (NO_PARAMS,)),
    "missing-ignored": Case(CONFIG, (named("limits"),), (), failure="Ignore"),
    "missing-allow": Case(CONFIG, (named("limits", "Allow"),), ()),
    "two-bindings": Case(
        CONFIG, (named("a"), named("b"), named("c")), ("at most 200m by a", "at most 300m by b"),
        (config("a", "200m"), config("b", "300m"), config("c", "1")),
    ),
    "by-labels": Case(
        CEILING, (labelled(tier="low"),), ("at most 200m by a", "at most 300m by b"),
        (ceiling("a", "200m", tier="low"), ceiling("b", "300m", tier="low"), ceiling("c", "100m", tier="high")),
    ),
    "by-expressions": Case(
        CEILING,
        ({"selector": {"matchExpressions": [
            {"key": "tier", "operator": "In", "values": ["low", "mid"]}, {"key": "off", "operator": "DoesNotExist"},
        ]}, "parameterNotFoundAction": "Deny"},),
        ("at most 300m by b",),
        (ceiling("a", "200m", tier="low", off="1"), ceiling("b", "300m", tier="mid"), ceiling("c", "100m", tier="x")),
    ),
    "by-labels-none": Case(CEILING, (labelled(tier="low"),), (NO_PARAMS,), (ceiling("c", "100m", tier="high"),)),
    "cluster": Case(ROOF, (named("one"),), ("at most 250m by one",)),
    "cluster-labels": Case(ROOF, (labelled(tier="low"),), ("at most 250m by one",)),
    "cluster-in-namespace": Case(
        ROOF, (named("one", namespace="default"),),
        ("failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`",),
    ),
    "elsewhere": Case(CONFIG, (named("kres-limits", namespace="default"),), ("at most 150m by kres-limits",)),
    "unserved": Case(
        {"apiVersion": f"{GROUP}/v1", "kind": "Nothing"}, (named("a"),),
        (f"failed to configure policy: {UNSERVED.format(GROUP)}",),
    ),
    "unserved-no-reference": Case(
        {"apiVersion": f"{GROUP}/v1", "kind": "Nothing"}, (None,),
        (f"failed to configure policy: {UNSERVED.format(GROUP)}",),
    ),
    "unserved-ignored": Case({"apiVersion": f"{GROUP}/v1", "kind": "Nothing"}, (None,), (), failure="Ignore"),
    # An expression that asks nothing of the parameter is not even looked at where there can be none.
    "unserved-true": Case(
        {"apiVersion": f"{GROUP}/v1", "kind": "Nothing"}, (None,),
        (f"failed to configure policy: {UNSERVED.format(GROUP)}",), expression="true",
    ),
    # The program has a table of this kind, the server has no such kind.
    "unserved-tenant": Case(
        TENANT, (None,),
        (f"failed to configure policy: {NO_TENANT}",), expression="true",
    ),
    "unserved-tenant-named": Case(
        TENANT, (named("oil"),),
        (f"failed to configure policy: {NO_TENANT}",), expression="true",
    ),
    "served-true": Case(CEILING, (None,), (), expression="true"),
    "built-in-true": Case(CONFIG, (None,), (), expression="true"),
    "served-no-reference": Case(CEILING, (None,), ("expression '",)),
    "no-reference": Case(CONFIG, (None,), ("expression '",)),
}  # fmt: skip


def definition(kind: str, plural: str, scope: str) -> dict[str, Any]:
    spec = {"type": "object", "properties": {"cpu": {"type": "string"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP, "scope": scope, "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }  # fmt: skip


def path_of(item: dict[str, Any], namespace: str) -> str:
    if item["kind"] == "ConfigMap":
        return f"/api/v1/namespaces/{namespace}/configmaps"
    if item["kind"] == "Roof":
        return f"/apis/{GROUP}/v1/rooves"
    return f"/apis/{GROUP}/v1/namespaces/{namespace}/ceilings"


def stored(asking: Asking, item: dict[str, Any], namespace: str) -> bool:
    """Whether it is there now; a kind that was just defined is not served at once, and a mere sentence says so."""
    try:
        return asking.send("POST", path_of(item, namespace), item).status in {201, 409}
    except json.JSONDecodeError:
        return False


def policy(space: str, case: Case) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where each goes, and the objects: a policy about pods of one namespace, and its bindings."""
    where = {"matchLabels": {"kubernetes.io/metadata.name": space}}
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    part = "data" if case.kind == CONFIG else "spec"
    check = {"expression": OF_DATA if part == "data" else OF_SPEC, "messageExpression": SAYS.format(part)}
    if case.expression:
        check = {"expression": case.expression}
    yield "validatingadmissionpolicies", {
        "kind": "ValidatingAdmissionPolicy", "metadata": {"name": space},
        "spec": {
            "paramKind": case.kind, "failurePolicy": case.failure, "validations": [check],
            "matchConstraints": {"resourceRules": [pods], "namespaceSelector": where},
        },
    }  # fmt: skip
    for number, reference in enumerate(case.bindings):
        spec = {"policyName": space, "validationActions": ["Deny"], **({"paramRef": reference} if reference else {})}
        binding = {"kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": f"{space}-{number}"}, "spec": spec}
        yield "validatingadmissionpolicybindings", binding


class Plane(NamedTuple):
    asking: Asking
    run: Callable[..., subprocess.CompletedProcess[str]]
    folder: Any

    def made(self, path: str, item: dict[str, Any], version: str = "") -> None:
        reply = self.asking.send("POST", path, {**({"apiVersion": version} if version else {}), **item})
        assert reply.status == 201, reply.body

    def workload(self, space: str) -> None:
        """Made once the policy is in force, so that no pod of it slips through."""
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [BOX]}}
        spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
        item = {"kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
        self.made(f"/apis/apps/v1/namespaces/{space}/deployments", item, "apps/v1")

    def pod(self, space: str) -> Reply:
        item = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [BOX]}}
        return self.asking.create(item, space, dry=True)

    def answered(self, *words: str) -> dict[str, Any]:
        done = self.run(*words, "-o", "json")
        assert done.returncode == 0, done.stderr
        [item] = json.loads(done.stdout)["items"]
        return dict(item)


@pytest.fixture(scope="module")
def plane(controlplane: ControlPlane, kubectl: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    folder = tmp_path_factory.mktemp("params")
    env = environment(controlplane.kubeconfig, kubectl, folder)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "kubectl_kres", *words]
        return subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)

    with Asking(controlplane) as asking:
        found = Plane(asking, run, folder)
        made: list[str] = []
        for one in (definition("Ceiling", "ceilings", "Namespaced"), definition("Roof", "rooves", "Cluster")):
            found.made(DEFINITIONS, one)
            made.append(f"{DEFINITIONS}/{one['metadata']['name']}")
        roof = {**ROOF, "metadata": {"name": "one", "labels": {"tier": "low"}}, "spec": {"cpu": "250m"}}
        until(partial(stored, asking, roof, ""))
        found.made(path_of(CONFIG, "default"), config("kres-limits", "150m"))
        made.append(f"{path_of(CONFIG, '')}/kres-limits".replace("namespaces//", "namespaces/default/"))
        try:
            for name, case in CASES.items():
                space = f"params-{name}"
                found.made("/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": space}}, "v1")
                for item in case.objects:
                    until(partial(stored, asking, item, space))
                for plural, item in policy(space, case):
                    found.made(f"{ADMITTING}/{plural}", item, "admissionregistration.k8s.io/v1")
                    made.insert(0, f"{ADMITTING}/{plural}/{item['metadata']['name']}")
            yield found
        finally:
            for path in made:
                asking.send("DELETE", path)


def denial(text: str) -> str:
    """What a policy said, without whose pod it was about and which binding."""
    return text.partition(" denied request: ")[2]


@pytest.mark.parametrize("name", CASES)
def test_as_the_server_answers(plane: Plane, name: str) -> None:
    case, space = CASES[name], f"params-{name}"

    def expected() -> bool:
        reply = plane.pod(space)
        if not case.denied:
            return reply.status == 201
        return reply.status >= 400 and denial(reply.body["message"]).startswith(case.denied)

    until(expected)
    plane.workload(space)
    told = plane.pod(space)
    found = plane.answered("explain", "deploy/web", "-n", space)
    if not case.denied:
        assert found["verdict"]["outcome"] in {"admitted", "full"}, found["verdict"]
        return
    assert found["verdict"]["outcome"] == "refused"
    texts = {denial(found["verdict"]["message"]), *(denial(one) for one in found["verdict"].get("otherMessages", ()))}
    assert denial(told.body["message"]) in texts or len(case.denied) > 1
    assert texts & {text for text in texts if text.startswith(case.denied)}


def refusals(plane: Plane, *words: str) -> str:
    """What a list says of the next pods."""
    done = plane.run(*words)
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout


def test_lists_snapshots_and_changes_say_the_same(plane: Plane, tmp_path: Any) -> None:
    space, words = "params-two", "at most 200m by limits"
    plane.made("/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": space}}, "v1")
    case = Case(CONFIG, (named("limits"),), ())
    assert stored(plane.asking, config("limits", "200m"), space)
    made = [f"{ADMITTING}/{plural}/{item['metadata']['name']}" for plural, item in policy(space, case)]
    try:
        for plural, item in policy(space, case):
            plane.made(f"{ADMITTING}/{plural}", item, "admissionregistration.k8s.io/v1")
        until(lambda: words in str(plane.pod(space).body.get("message")))
        plane.workload(space)
        whole = plane.answered("explain", "deploy/web", "-n", space)["verdict"]
        assert words in whole["message"]
        assert words in refusals(plane, "explain", "deployments", "-n", space)
        assert words in refusals(plane, "check", "-n", space)
        change = "deploy/web:spec.template.spec.containers[0].resources.requests.cpu=100m"
        played = refusals(plane, "simulate", "--set", change, "-n", space)
        assert "Better:" in played and "not computed" not in played
        saved = str(tmp_path / "saved.kres")
        done = plane.run("snapshot", "-n", space, "--out", saved)
        assert done.returncode == 0, done.stderr
        from_file = plane.answered("explain", "deploy/web", "-n", space, "--snapshot", saved)["verdict"]
        assert from_file == whole
        raised = tmp_path / "raised.yaml"
        raised.write_text(json.dumps(config("limits", "1")))
        found = plane.answered("explain", "deploy/web", "-n", space, "-f", str(raised))
        # What was refused before is told as what holds it up still.
        assert found["verdict"]["outcome"] in {"admitted", "blocked"}
    finally:
        for path in reversed(made):
            plane.asking.send("DELETE", path)


READER = "params-reader"


def test_what_may_not_be_read_is_named_and_nothing_else_suffers(plane: Plane) -> None:
    """The reader may read all but ConfigMaps, and of Secrets nobody reads any."""
    done = plane.run("version", "--rbac")
    rights = "/apis/rbac.authorization.k8s.io/v1"
    import yaml  # noqa: PLC0415, beside its use

    [role] = [one for one in yaml.safe_load_all(done.stdout) if one and one["kind"] == "ClusterRole"]
    role["metadata"]["name"] = READER
    made = [f"{rights}/clusterroles/{READER}", f"{rights}/clusterrolebindings/{READER}"]
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": READER},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": READER},
        "subjects": [{"kind": "User", "name": READER, "apiGroup": "rbac.authorization.k8s.io"}],
    }  # fmt: skip
    spaces = {"params-denied": CONFIG, "params-secret": {"apiVersion": "v1", "kind": "Secret"}}
    try:
        plane.made(f"{rights}/clusterroles", role)
        plane.made(f"{rights}/clusterrolebindings", binding)
        for space, kind in spaces.items():
            plane.made("/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": space}}, "v1")
            for plural, item in policy(space, Case(kind, (named("limits", "Allow"),), ())):
                plane.made(f"{ADMITTING}/{plural}", item, "admissionregistration.k8s.io/v1")
                made.insert(0, f"{ADMITTING}/{plural}/{item['metadata']['name']}")
            plane.workload(space)
        whys = []
        for space in spaces:
            found = plane.answered("explain", "deploy/web", "-n", space, "--as", READER)
            assert found["verdict"]["outcome"].endswith("-as-far-as-seen"), found["verdict"]
            [gap] = [one for one in found["unread"] if one["kind"] == "ValidatingAdmissionPolicy"]
            assert gap["name"] == space
            whys.append(gap["message"])
        assert whys == [
            "not computed: its parameters (ConfigMap params-denied/limits) may not be read",
            "not computed: its parameters are Secrets, which are never read",
        ]
    finally:
        for path in made:
            plane.asking.send("DELETE", path)


def test_a_mutation_with_a_parameter(plane: Plane) -> None:
    space = "params-mutating"
    plane.made("/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": space}}, "v1")
    assert stored(plane.asking, config("limits", "750m"), space)
    [_, own], [_, bound] = policy(space, Case(CONFIG, (named("limits"),), ()))
    limited = "Object.spec.containers.resources{limits: {'cpu': params.data.cpu}}"
    patch = f"Object{{spec: Object.spec{{containers: [Object.spec.containers{{name: 'app', resources: {limited}}}]}}}}"
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": patch}}
    spec = {key: own["spec"][key] for key in ("paramKind", "failurePolicy", "matchConstraints")}
    spec |= {"mutations": [mutation], "reinvocationPolicy": "Never"}
    kept = {key: bound["spec"][key] for key in ("policyName", "paramRef")}
    made = []
    try:
        for plural, item in (
            ("mutatingadmissionpolicies", {**own, "kind": "MutatingAdmissionPolicy", "spec": spec}),
            ("mutatingadmissionpolicybindings", {**bound, "kind": "MutatingAdmissionPolicyBinding", "spec": kept}),
        ):
            plane.made(f"{ADMITTING}/{plural}", item, "admissionregistration.k8s.io/v1")
            made.insert(0, f"{ADMITTING}/{plural}/{item['metadata']['name']}")

        def limit() -> Any:
            [box] = plane.pod(space).body["spec"]["containers"]
            return box["resources"].get("limits", {}).get("cpu")

        until(lambda: limit() == "750m")
        plane.workload(space)
        [box] = plane.answered("explain", "deploy/web", "-n", space)["containers"]
        values = {(one["side"], one["resource"]): (one["value"], one["rule"]) for one in box["values"]}
        assert values["limits", "cpu"] == ("750m", "policy/mutated")
    finally:
        for path in made:
            plane.asking.send("DELETE", path)


#: What is there, and the step: a parameter that is put in place, changed, given another label, or deleted.
STEPS = {
    "raised": (CONFIG, named("limits"), config("limits", "200m"), config("limits", "1"), ""),
    "created": (CONFIG, named("limits"), None, config("limits", "1"), ""),
    "deleted": (CONFIG, named("limits"), config("limits", "1"), None, "configmap/limits"),
    "set": (CONFIG, named("limits"), config("limits", "1"), None, "configmap/limits:data.cpu=200m"),
    "kind-deleted": (CEILING, named("a", "Allow"), ceiling("a", "200m"), None, f"ceilings.v1.{GROUP}/a"),
    "kind-set": (CEILING, named("a"), ceiling("a", "200m"), None, f"ceilings.v1.{GROUP}/a:spec.cpu='1'"),
    "labelled": (CEILING, labelled(tier="low"), ceiling("a", "200m", tier="x"), ceiling("a", "200m", tier="low"), ""),
    "of-the-cluster": (ROOF, named("two"), None, {**ROOF, "metadata": {"name": "two", "labels": {}},
                                                  "spec": {"cpu": "1"}}, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_a_step_about_a_parameter(plane: Plane, tmp_path: Path, name: str) -> None:
    """What becomes of the next pod is what the server answers before the step and after it."""
    kind, reference, before, after, words = STEPS[name]
    space = f"params-step-{name}"
    plane.made("/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": space}}, "v1")
    if before is not None:
        assert stored(plane.asking, before, space)
    made = [
        f"{ADMITTING}/{plural}/{item['metadata']['name']}"
        for plural, item in policy(space, Case(kind, (reference,), ()))
    ]
    was_denied = _denied(reference, before)
    try:
        for plural, item in policy(space, Case(kind, (reference,), ())):
            plane.made(f"{ADMITTING}/{plural}", item, "admissionregistration.k8s.io/v1")
        until(lambda: (plane.pod(space).status >= 400) == was_denied)
        plane.workload(space)
        file = tmp_path / "step.yaml"
        file.write_text(json.dumps(after))
        step = ("-f", str(file)) if after is not None else ("--set" if "=" in words else "--delete", words)
        done = plane.run("simulate", "-n", space, *step, "-o", "json")
        assert done.returncode == 0, done.stderr
        [change] = json.loads(done.stdout)["items"]
        told = [item.get("nextAfter", {}) for item in change.get("workloads", ()) if item["subject"]["name"] == "web"]
        path = path_of(before or after or {}, space)
        _carried_out(plane, path, before, after, words)
        made += [f"{path}/two"] if kind == ROOF else []
        denied = _denied(reference, _after(before, after, words))
        until(lambda: (plane.pod(space).status >= 400) == denied)
        if denied == was_denied:
            assert not told
        elif denied:
            assert denial(told[0]["message"]) == denial(plane.pod(space).body["message"])
        else:
            assert told[0]["admitted"]
    finally:
        for path in reversed(made):
            plane.asking.send("DELETE", path)


def _after(before: dict[str, Any] | None, after: dict[str, Any] | None, words: str) -> dict[str, Any] | None:
    if "=" not in words or before is None:
        return after
    part = "data" if "data" in before else "spec"
    return {**before, part: {"cpu": words.rpartition("=")[2].strip("'")}}


def _denied(reference: dict[str, Any], item: dict[str, Any] | None) -> bool:
    """Whether the pod is denied, by what each case was written for."""
    wanted = reference.get("selector", {}).get("matchLabels", {})
    if item is None or any(item["metadata"]["labels"].get(key) != value for key, value in wanted.items()):
        return reference["parameterNotFoundAction"] == "Deny"
    return (item.get("data") or item["spec"])["cpu"] == "200m"


def _carried_out(
    plane: Plane, path: str, before: dict[str, Any] | None, after: dict[str, Any] | None, words: str
) -> None:
    end = _after(before, after, words)
    if end is None:
        reply = plane.asking.send("DELETE", f"{path}/{before['metadata']['name']}")
    elif before is None:
        reply = plane.asking.send("POST", path, end)
    else:
        current = plane.asking.send("GET", f"{path}/{end['metadata']['name']}").body
        metadata = {**end["metadata"], "resourceVersion": current["metadata"]["resourceVersion"]}
        reply = plane.asking.send("PUT", f"{path}/{end['metadata']['name']}", {**end, "metadata": metadata})
    assert reply.status < 300, reply.body
