"""Manifests as structs, policy laid over a store, workloads left."""

import io

import pytest

from kubectl_kres.errors import InputError, InputErrors
from kubectl_kres.manifests.overlay import holds_template, overlay
from kubectl_kres.manifests.read import read
from kubectl_kres.manifests.typed_manifest import decode_manifest, kind_of
from kubectl_kres.model import kinds
from kubectl_kres.model import objects as policy
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.store.store import Origin, Store


def given(text):
    return read(["-"], recursive=False, stdin=io.BytesIO(text.encode()))


def one(text):
    (manifest,) = given(text)
    return decode_manifest(manifest, kind_of(manifest))


def test_quantities_stay_as_kubectl_would_send_them():
    limits = one("""
apiVersion: v1
kind: LimitRange
metadata: {name: a}
spec: {limits: [{type: Container, default: {cpu: 0.5, memory: 1e9, x/y: 2, z: 100m, q: null}}]}
""")
    default = limits.spec.limits[0].default
    assert default == {"cpu": "0.5", "memory": 1000000000, "x/y": 2, "z": "100m", "q": None}
    assert isinstance(limits, policy.LimitRange)


def test_null_is_as_good_as_absent():
    deployment = one("""
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, labels: null, creationTimestamp: null, uid: null}
spec:
  replicas: null
  template: {metadata: null, spec: {containers: [{name: a, image: null, resources: {limits: null}}]}}
status: null
""")
    (container,) = deployment.spec.template.spec.containers
    assert (container.image, container.resources.limits, deployment.metadata.uid) == ("", None, "")
    assert deployment.kind == "Deployment"


@pytest.mark.parametrize(("version", "field"), [("v1", "computeResources"), ("v1beta1", "resources")])
def test_null_in_a_list_of_tekton_is_an_empty_value(version, field):
    run = one(f"""
apiVersion: tekton.dev/{version}
kind: TaskRun
metadata: {{name: a}}
spec: {{taskSpec: {{steps: [{{name: b, env: [null], {field}: {{requests: {{cpu: 1, memory: null}}}}}}, null]}}}}
""")
    first, second = run.spec.task_spec.steps
    assert (first.name, second.name, second.image) == ("b", "", "")
    assert first.compute_resources.requests["cpu"] == 1


def test_null_in_a_list_of_others_is_refused():
    with pytest.raises(InputError, match="containers"):
        one("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [null]}}")


TEMPLATE = "spec:\n  template:\n    spec:\n      containers:"
WRONG = {
    "string for integer": ("spec:\n  replicas: two", "5:13", "spec.replicas", "string", "integer"),
    "number for integer": ("spec:\n  replicas: 1.5", "5:13", "spec.replicas", "number", "integer"),
    "map for list": (f"{TEMPLATE} {{name: a}}", "7:19", "spec.template.spec.containers", "map", "array"),
    "number for string": (
        f"{TEMPLATE}\n      - name: b\n      - {{name: 1.5}}",
        "9:16",
        "spec.template.spec.containers[1].name",
        "number",
        "string",
    ),
    "label": (
        "spec:\n  template:\n    metadata:\n      labels: {x.y: z, app: 1.0}",
        "7:29",
        "spec.template.metadata.labels.app",
        "integer",
        "string",
    ),
    "null in a list": (f"{TEMPLATE} [null]", "7:20", "spec.template.spec.containers[0]", "null", "map"),
    "string for map": ("spec: x", "4:7", "spec", "string", "map"),
    "one of several": (
        "spec:\n  strategy: {rollingUpdate: {maxSurge: true}}",
        "5:40",
        "spec.strategy.rollingUpdate.maxSurge",
        "boolean",
        "integer or string",
    ),
}


@pytest.mark.parametrize(("text", "place", "field", "got", "expected"), WRONG.values(), ids=WRONG)
def test_the_wrong_field_is_named(text, place, field, got, expected):
    with pytest.raises(InputError) as refused:
        one(f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\n{text}\n")
    said = f'STDIN:{place}: Deployment/a: {field}: invalid type: got "{got}", expected "{expected}"'
    assert refused.value.message == said


@pytest.mark.parametrize(
    ("version", "kind", "known"),
    [
        ("v1", "Service", True),
        ("serving.knative.dev/v1", "Service", False),
        ("apps/v1beta2", "Deployment", True),
        ("extensions/v1beta1", "Deployment", False),
        ("v1", "Secret", False),
    ],
)
def test_a_kind_is_known_by_its_group(version, kind, known):
    (manifest,) = given(f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}")
    assert kind_of(manifest) == (kinds.BY_KIND[kind] if known else None)


INPUT = """
{apiVersion: v1, kind: Namespace, metadata: {name: shop, namespace: ignored}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: limits}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: quota, namespace: other}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: other}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 5}
---
{apiVersion: v1, kind: Pod, metadata: {generateName: bare-, namespace: other}}
---
{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: ro}, spec: {template: {spec: {containers: []}}}}
---
{apiVersion: tekton.dev/v1, kind: TaskRun, metadata: {name: build}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {generateName: data-}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {generateName: data-}}
"""


def test_policy_goes_into_the_store_and_workloads_are_left():
    store = Store(Origin("files"))
    store.add("LimitRange", policy.LimitRange())
    workloads = overlay(store, given(INPUT), namespace="shop")
    assert [workload.ref for workload in workloads] == [
        ObjectRef("Deployment", "web", "shop"),
        ObjectRef("Pod", "bare-", "other"),
        ObjectRef("Rollout", "ro", "shop"),
        ObjectRef("TaskRun", "build", "shop"),
    ]
    assert store.get("Namespace", "shop").metadata.name == "shop"
    assert store.get("PriorityClass", "high").value == 5
    assert store.get("ResourceQuota", "quota", "other") is not None
    assert store.files[ObjectRef("LimitRange", "limits", "shop")] == "STDIN"
    assert len(list(store.all("PersistentVolumeClaim", "shop"))) == 2
    assert "ConfigMap" not in store.kinds()
    assert workloads[0].position(("metadata", "name")) == (6, 58)


def test_an_object_replaces_the_one_of_the_cluster():
    store = Store(Origin("cluster"))
    store.add("PriorityClass", decode_manifest(*_priority(1)))
    overlay(store, [_priority(2)[0]])
    assert [held.value for held in store.all("PriorityClass")] == [2]


def _priority(value):
    text = f"{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: high}}, value: {value}}}"
    (manifest,) = given(text)
    return manifest, kind_of(manifest)


def test_another_namespace_than_asked_for_is_refused():
    with pytest.raises(InputErrors) as refused:
        overlay(Store(Origin("files")), given(INPUT), namespace="shop", explicit=True)
    sentence = (
        'the namespace from the provided object "other" does not match the namespace "shop".'
        " You must pass '--namespace=other' to perform this operation."
    )
    assert [error.message for error in refused.value.errors] == [f"STDIN:8:74: {sentence}", f"STDIN:14:72: {sentence}"]
    assert len(overlay(Store(Origin("files")), given(INPUT)[:3], namespace="shop", explicit=True)) == 1


def test_faults_of_policy_objects_are_gathered():
    text = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: a}\nspec: 5\n"
    with pytest.raises(InputErrors) as refused:
        overlay(Store(Origin("files")), given(text + "---\n" + text))
    assert [error.line for error in refused.value.errors] == [4, 9]


def test_a_template_without_containers_makes_no_workload_of_an_unknown_kind():
    text = "{apiVersion: x/v1, kind: X, metadata: {name: a}, spec: {template: {spec: 5}}}"
    assert not any(map(holds_template, given(text)))


def test_a_job_template_makes_a_workload_of_an_unknown_kind():
    template = "{template: {spec: {containers: [{name: c}]}}}"
    text = f"{{apiVersion: x/v1, kind: X, metadata: {{name: a}}, spec: {{jobTemplate: {{spec: {template}}}}}}}"
    assert all(map(holds_template, given(text)))


def test_a_field_of_tektons_other_version_is_a_fault():
    text = """\
apiVersion: tekton.dev/v1
kind: Task
metadata: {name: t}
spec: {steps: [{name: a, resources: {}}]}
"""
    with pytest.raises(InputError, match=r'unknown field "spec.steps\[0\].resources": tekton.dev/v1 calls it compute'):
        one(text)
