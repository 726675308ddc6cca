"""Record what Capsule's webhooks answer, with a real kube-apiserver before them: see README.md beside this file."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "controlplane"))
sys.path.insert(0, str(HERE))

import build  # noqa: E402, the path is set above
import yaml  # noqa: E402
from controlplane import BASIC_CONTROLLERS, HOST, ControlPlane, free_port  # noqa: E402
from settling import send, until  # noqa: E402
from worlds import CLASSES, OBJECT_CLASSES, World, about_classes, about_objects, worlds  # noqa: E402

MODULE = "github.com/projectcapsule/capsule@v0.14.0"
OUT = HERE / "recorded.json"
OUT_OF_CLASSES = HERE / "recorded_classes.json"
OUT_OF_OBJECTS = HERE / "recorded_objects.json"
GROUP = "/apis/capsule.clastix.io/v1beta2"
TENANT = "capsule.clastix.io/tenant"
#: Seconds.
_SETTLED = 60
KEPT = ("name", "namespace", "labels", "uid", "creationTimestamp", "ownerReferences")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recorder", type=Path, help="a binary that was built before")
    parser.add_argument("--only", default="", help="worlds whose name begins with this; they are printed, not kept")
    parser.add_argument("--classes", action="store_true", help="the worlds about classes, registries and pull policies")
    parser.add_argument("--objects", action="store_true", help="the worlds about other objects, and numbers of them")
    options = parser.parse_args()
    make, out = (
        (about_classes, OUT_OF_CLASSES) if options.classes
        else (about_objects, OUT_OF_OBJECTS) if options.objects
        else (worlds, OUT)
    )  # fmt: skip
    source = Path(json.loads(run("go", "mod", "download", "-json", MODULE))["Dir"])
    binary = options.recorder or built(source)
    with ControlPlane(build.locate(), controllers=BASIC_CONTROLLERS, controller_args=["--kube-api-qps=200"]) as plane:
        install(plane, source)
        if options.classes or options.objects:
            install_classes(plane, CLASSES)
        if options.objects:
            install_objects(plane)
        with serving(plane, binary):
            cases = [
                {"name": name, **play(plane, number, world)}
                for number, (name, world) in enumerate(make())
                if name.startswith(options.only)
            ]
        version = plane.request("GET", "/version")[1]["gitVersion"]
    if options.only:
        print(json.dumps(cases, indent=1))
        return
    head = json.dumps({"capsule": "v0.14.0", "server": {"version": version, "featureGates": {}}})[:-1]
    lines = ",\n".join(json.dumps(case) for case in cases)
    out.write_text(f'{head}, "cases": [\n{lines}\n]}}\n')


def run(*words: str, **options: Any) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout


def built(source: Path) -> Path:
    """Build recorder.go inside a copy of Capsule's module, whose internal packages it uses."""
    folder = Path(tempfile.mkdtemp(prefix="capsule-"))
    shutil.copytree(source, folder / "capsule")
    for path in (folder / "capsule").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (folder / "capsule").chmod(0o755)
    target = folder / "capsule" / "cmd" / "recorder"
    target.mkdir()
    shutil.copy(HERE / "recorder.go", target / "main.go")
    run("go", "build", "-o", str(folder / "recorder"), "./cmd/recorder", cwd=folder / "capsule")
    return folder / "recorder"


def install(plane: ControlPlane, source: Path) -> None:
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    served = []
    for file in sorted((source / "charts" / "capsule" / "crds").glob("*.yaml")):
        definition = yaml.safe_load(file.read_text())
        definition["spec"].pop("conversion", None)
        send(plane, "POST", definitions, definition)
        served.append(f"{GROUP}/{definition['spec']['names']['plural']}")
    until(lambda: all(plane.request("GET", f"{path}?limit=1")[0] == 200 for path in served), _SETTLED)
    for name, value in (("high", 1000), ("low", 10)):
        send(
            plane, "POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
            {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value},
        )  # fmt: skip
    namespace(plane, "capsule-system", {}, None)
    default = {"kind": "CapsuleConfiguration", "metadata": {"name": "default"}, "spec": {}}
    send(plane, "POST", f"{GROUP}/capsuleconfigurations", {"apiVersion": "capsule.clastix.io/v1beta2", **default})


def install_objects(plane: ControlPlane) -> None:
    """Definitions of kinds that the server does not have, further classes, and who is whose."""
    for group, kind, plural, scope in (
        ("shop.example", "Cake", "cakes", "Namespaced"),
        ("gateway.networking.k8s.io", "Gateway", "gateways", "Namespaced"),
        ("gateway.networking.k8s.io", "GatewayClass", "gatewayclasses", "Cluster"),
    ):
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        approved = {"api-approved.kubernetes.io": "unapproved, for a test"}
        send(plane, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}", "annotations": approved},
            "spec": {
                "group": group, "scope": scope,
                "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
            },
        })  # fmt: skip
        until(lambda group=group, plural=plural: plane.request("GET", f"/apis/{group}/v1/{plural}")[0] == 200, _SETTLED)
    install_classes(plane, OBJECT_CLASSES)
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    send(plane, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "owner"},
        "roleRef": role, "subjects": [{"apiGroup": role["apiGroup"], "kind": "User", "name": "owner"}],
    })  # fmt: skip
    path = f"{GROUP}/capsuleconfigurations/default"
    merge = "application/merge-patch+json"
    administrators = {"spec": {"administrators": [{"kind": "Group", "name": "system:masters"}]}}
    users = {"status": {"users": [{"kind": "User", "name": "owner"}]}}
    for target, patch in ((path, administrators), (f"{path}/status", users)):
        answer = plane.request("PATCH", target, patch, content_type=merge)
        assert answer[0] == 200, answer


def install_classes(plane: ControlPlane, classes: dict[str, tuple[str, dict[str, Any]]]) -> None:
    for kind, (path, items) in classes.items():
        for name, written in items.items():
            more = {key: value for key, value in written.items() if key not in {"labels", "annotations"}}
            metadata = {"name": name, **{key: written[key] for key in ("labels", "annotations") if key in written}}
            version = path.removeprefix("/apis/").removeprefix("/api/").rpartition("/")[0]
            send(plane, "POST", path, {"apiVersion": version, "kind": kind, "metadata": metadata, **more})


@contextmanager
def serving(plane: ControlPlane, binary: Path) -> Iterator[None]:
    """The webhooks, registered as the chart of 0.14.0 does it."""
    port = free_port()
    environment = {
        **os.environ,
        "KUBECONFIG": str(plane.kubeconfig),
        "NAMESPACE": "capsule-system",
        "SERVICE_ACCOUNT": "capsule",
    }
    with (
        (plane.folder / "recorder.log").open("wb") as log,
        subprocess.Popen(
            [str(binary), str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment
        ) as process,
    ):
        try:
            authority = process.stdout.readline().decode().strip()
            register(plane, port, authority)
            yield
        except BaseException:
            print((plane.folder / "recorder.log").read_text()[-4000:], file=sys.stderr)
            raise
        finally:
            process.stdin.close()
            process.terminate()


def register(plane: ControlPlane, port: int, authority: str) -> None:
    def hook(name: str, path: str, resources: list[str], **more: Any) -> dict[str, Any]:
        return {
            "name": name,
            "admissionReviewVersions": ["v1", "v1beta1"],
            "clientConfig": {"url": f"https://{HOST}:{port}{path}", "caBundle": authority},
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "namespaceSelector": {"matchExpressions": [{"key": TENANT, "operator": "Exists"}]},
            "rules": [
                {
                    "apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"],
                    "resources": resources, "scope": "Namespaced",
                }
            ],
            "sideEffects": "None",
            "timeoutSeconds": 30,
            **more,
        }  # fmt: skip

    events = {"name": "ignore-events", "expression": 'request.resource.resource != "events"'}
    main = {
        "name": "mutations-ignore-subresources",
        "expression": '!has(request.subResource) || request.subResource == ""',
    }
    hooks = {
        "Mutating": [
            hook(
                "generic.rules.mutating.projectcapsule.dev", "/rules/generic/mutating", ["*/*"],
                reinvocationPolicy="IfNeeded", matchConditions=[events, main],
            ),
            hook("pod.mutating.projectcapsule.dev", "/defaults", ["pods"]),
            hook("storage.mutating.projectcapsule.dev", "/defaults", ["persistentvolumeclaims"]),
            hook("ingress.mutating.projectcapsule.dev", "/defaults", ["ingresses"]),
            hook("gateway.mutating.projectcapsule.dev", "/defaults", ["gateways"]),
            hook("pvc.mutating.projectcapsule.dev", "/persistentvolumeclaims/mutating", ["persistentvolumeclaims"]),
        ],
        "Validating": [
            hook(
                "generic.rules.validating.projectcapsule.dev", "/rules/generic/validating", ["*/*"],
                matchConditions=[events],
            ),
            hook("services.validating.projectcapsule.dev", "/services/validating", ["services"], matchPolicy="Exact"),
            hook("ingress.validating.projectcapsule.dev", "/ingresses/validating", ["ingresses"]),
            hook("gateway.validating.projectcapsule.dev", "/gateways/validating", ["gateways"]),
            hook("devices.validating.projectcapsule.dev", "/devices/validating",
                 ["resourceclaims", "resourceclaimtemplates"]),
            hook("customresources.validating.projectcapsule.dev", "/generic/customresources", ["*"],
                 namespaceSelector={"matchExpressions": [
                     {"key": TENANT, "operator": "Exists"},
                     {"key": "projectcapsule.dev/custom-resources", "operator": "Exists"},
                 ]}, matchConditions=[main, events]),
            hook("cordoning.validating.projectcapsule.dev", "/generic/cordoning", ["*"],
                 namespaceSelector={"matchExpressions": [
                     {"key": TENANT, "operator": "Exists"},
                     {"key": "projectcapsule.dev/cordoned", "operator": "Exists"},
                 ]}),
            hook("namespaces.validating.projectcapsule.dev", "/namespaces/validating", ["namespaces"],
                 namespaceSelector={}, rules=[{
                     "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["namespaces"],
                     "scope": "*",
                 }]),
            hook("pods.validating.projectcapsule.dev", "/pods/validating", ["pods", "pods/ephemeralcontainers"]),
            hook("pvc.validating.projectcapsule.dev", "/persistentvolumeclaims/validating", ["persistentvolumeclaims"]),
            hook(
                "calculation.global-resource-quotas.validating.projectcapsule.dev",
                "/global-resource-quotas/calculations", ["*/*"],
            ),
        ],
    }  # fmt: skip
    namespace(plane, "probe", {TENANT: "probe"}, None)
    for kind, webhooks in hooks.items():
        send(
            plane, "POST", f"/apis/admissionregistration.k8s.io/v1/{kind.lower()}webhookconfigurations",
            {
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{kind}WebhookConfiguration",
                "metadata": {"name": f"capsule-{kind.lower()}"}, "webhooks": webhooks,
            },
        )  # fmt: skip
    probe = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"generateName": "probe-"}}
    until(lambda: plane.request("POST", "/api/v1/namespaces/probe/configmaps", probe)[0] == 201, _SETTLED)
    # The API server takes a moment to notice all of them.
    time.sleep(2)


def play(plane: ControlPlane, number: int, world: World) -> dict[str, Any]:
    """Make the world and send the pod; return both as they were."""
    tenant, here, there = f"t{number}", f"w{number}", f"w{number}-other"
    spec = {"owners": [{"kind": "User", "name": "owner"}], "rules": world.get("rules", []), **world.get("tenant", {})}
    uid = send(
        plane, "POST", f"{GROUP}/tenants",
        {
            "apiVersion": "capsule.clastix.io/v1beta2", "kind": "Tenant", "spec": spec,
            "metadata": {"name": tenant, "annotations": world.get("annotations", {})},
        },
    )["metadata"]["uid"]  # fmt: skip
    owner = {"apiVersion": "capsule.clastix.io/v1beta2", "kind": "Tenant", "name": tenant, "uid": uid}
    labels = {TENANT: tenant, **world.get("labels", {})}
    if world.get("annotations"):
        labels["projectcapsule.dev/custom-resources"] = "true"
    if "send" in world and spec.get("cordoned"):
        labels["projectcapsule.dev/cordoned"] = "true"
    namespace(plane, here, labels, owner)
    namespace(plane, there, labels, owner)
    if "tenant" in world:
        status = {"conditions": [], "namespaces": [here, there], "size": 2, "state": "Active"}
        path = f"{GROUP}/tenants/{tenant}/status"
        answer = plane.request("PATCH", path, {"status": status}, content_type="application/merge-patch+json")
        assert answer[0] == 200, answer
        time.sleep(0.3)
    for space, pods in ((here, world.get("here", ())), (there, world.get("used", ()))):
        for place, each in enumerate(pods):
            created(plane, space, f"old{place}", each)
    for kind, plural, specs in (
        ("LimitRange", "limitranges", world.get("ranges", ())),
        ("ResourceQuota", "resourcequotas", world.get("quotas", ())),
    ):
        for place, each in enumerate(specs):
            body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": f"{kind[0].lower()}{place}"}, "spec": each}
            send(plane, "POST", f"/api/v1/namespaces/{here}/{plural}", body)
    globals_ = [
        globally(plane, f"g{number}-{place}", tenant, each) for place, each in enumerate(world.get("global", ()))
    ]
    until(lambda: settled(plane, here, globals_), _SETTLED)
    given = [
        plane.request("GET", f"/api/v1/namespaces/{here}")[1],
        plane.request("GET", f"{GROUP}/tenants/{tenant}")[1],
        *plane.request("GET", f"/api/v1/namespaces/{here}/limitranges")[1]["items"],
        *plane.request("GET", f"/api/v1/namespaces/{here}/resourcequotas")[1]["items"],
        *(plane.request("GET", f"{GROUP}/globalresourcequotas/{name}")[1] for name in globals_),
    ]
    kinds = ["Namespace", "Tenant"]
    kinds += ["LimitRange"] * len(world.get("ranges", ()))
    kinds += ["ResourceQuota"] * (len(given) - len(kinds) - len(globals_))
    kinds += ["GlobalResourceQuota"] * len(globals_)
    kind, plural = ("PersistentVolumeClaim", "persistentvolumeclaims") if "claim" in world else ("Pod", "pods")
    body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "p"}, "spec": world.get("claim") or world.get("pod")}
    path = f"/api/v1/namespaces/{here}/{plural}"
    if "send" in world:
        body, path = placed(world["send"], number, labels, owner, here)
    status, answer = sent_by(plane, world.get("user", ""), path, body)
    for name in globals_:
        plane.request("DELETE", f"{GROUP}/globalresourcequotas/{name}")
    return {
        "given": [pruned(kind, one) for kind, one in zip(kinds, given, strict=True)],
        "request": {"object": body, "namespace": here},
        "expect": expected(status, answer),
    }


def placed(
    body: dict[str, Any], number: int, labels: dict[str, str], owner: dict[str, str], here: str
) -> tuple[dict[str, Any], str]:
    """An object of a world, and where it is sent to. A namespace is one more of the Tenant."""
    version, plural = body["apiVersion"], PLURALS[body["kind"]]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    if body["kind"] == "Namespace":
        metadata = {"name": f"w{number}-third", "labels": labels, "ownerReferences": [owner]}
        return {**body, "metadata": metadata}, f"{root}/{plural}"
    return body, f"{root}/namespaces/{here}/{plural}"


PLURALS = {
    "Service": "services", "Ingress": "ingresses", "Gateway": "gateways", "ResourceClaim": "resourceclaims",
    "ResourceClaimTemplate": "resourceclaimtemplates", "PersistentVolumeClaim": "persistentvolumeclaims",
    "Cake": "cakes", "ConfigMap": "configmaps", "Pod": "pods", "Namespace": "namespaces",
}  # fmt: skip


def sent_by(plane: ControlPlane, user: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
    if not user:
        return plane.request("POST", path, body)
    command = ["kubectl", "--kubeconfig", str(plane.kubeconfig), "--as", user, "create", "--raw", path, "-f", "-"]
    ended = subprocess.run(command, input=json.dumps(body), check=False, capture_output=True, text=True)
    if not ended.returncode:
        return 201, json.loads(ended.stdout)
    text = ended.stderr.strip().removeprefix("Error from server (Forbidden): ")
    return 403, {"reason": "Forbidden", "message": text}


def expected(status: int, answer: dict[str, Any]) -> dict[str, Any]:
    if status != 201:
        return {
            "allowed": False,
            "code": status,
            "reason": answer.get("reason", ""),
            "message": answer.get("message", ""),
        }
    if answer["kind"] not in {"Pod", "PersistentVolumeClaim"}:
        return {"allowed": True, "code": status}
    spec = answer["spec"]
    if answer["kind"] == "PersistentVolumeClaim":
        return {"allowed": True, "code": status, "storageClassName": spec.get("storageClassName")}
    stored: dict[str, Any] = {
        key: {each["name"]: each.get("resources", {}) for each in spec.get(key, ())}
        for key in ("containers", "initContainers")
    }
    return {
        "allowed": True, "code": status, "stored": {**stored, "pod": spec.get("resources", {})},
        "qosClass": answer["status"]["qosClass"],
        **{key: spec[key] for key in ("priorityClassName", "runtimeClassName", "overhead") if key in spec},
    }  # fmt: skip


def pruned(kind: str, one: dict[str, Any]) -> dict[str, Any]:
    kept = (*KEPT, "annotations") if kind == "Tenant" else KEPT
    metadata = {key: one["metadata"][key] for key in kept if key in one["metadata"]}
    version = one.get("apiVersion") or "v1"
    rest = {key: one[key] for key in ("spec", "status") if key in one}
    if kind == "Namespace":
        rest = {"status": {"phase": "Active"}}
    rest.get("status", {}).pop("conditions", None)
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}


def globally(plane: ControlPlane, name: str, tenant: str, written: dict[str, Any]) -> str:
    spec = dict(written)
    selectors = spec.pop("selectors", [{"matchLabels": {TENANT: tenant}}])
    for each in selectors:
        # Worlds are kept apart by their Tenant.
        if each:
            each = each.setdefault("matchLabels", {})  # noqa: PLW2901
            each[TENANT] = tenant
    send(
        plane, "POST", f"{GROUP}/globalresourcequotas",
        {
            "apiVersion": "capsule.clastix.io/v1beta2", "kind": "GlobalResourceQuota", "metadata": {"name": name},
            "spec": {"namespaceSelectors": selectors, "quota": spec},
        },
    )  # fmt: skip
    return name


def settled(plane: ControlPlane, space: str, names: list[str]) -> bool:
    """Whether quotas are counted, and GlobalResourceQuotas ready to be asked."""
    for quota in plane.request("GET", f"/api/v1/namespaces/{space}/resourcequotas")[1]["items"]:
        if set(quota.get("status", {}).get("used", {})) != set(quota["spec"].get("hard", {})):
            return False
    ledgers = plane.request("GET", f"{GROUP}/namespaces/capsule-system/quantityledgers")[1]["items"] if names else []
    for name in names:
        quota = plane.request("GET", f"{GROUP}/globalresourcequotas/{name}")[1]
        status = quota.get("status", {})
        ready = [each for each in status.get("conditions", ()) if each["type"] == "Ready"]
        own = [each for each in ledgers if each["spec"]["targetRef"]["name"] == name]
        if not ready or ready[0]["status"] != "True" or not own:
            return False
        seen = own[0].get("status", {}).get("resourceQuota", {})
        if not seen.get("initialized") or seen.get("used", {}) != status.get("total", {}).get("used", {}):
            return False
    return True


def namespace(plane: ControlPlane, name: str, labels: dict[str, str], owner: dict[str, str] | None) -> None:
    metadata = {"name": name, "labels": labels, **({"ownerReferences": [owner]} if owner else {})}
    send(plane, "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})


def created(plane: ControlPlane, space: str, name: str, spec: dict[str, Any]) -> None:
    """A pod that runs already: the rules of the Tenant may have changed it."""
    send(
        plane, "POST", f"/api/v1/namespaces/{space}/pods",
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec},
    )  # fmt: skip


if __name__ == "__main__":
    main()
