"""Nothing that an answer does not need gets into a snapshot."""

import gzip
import json
import typing

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.model import kinds, pod
from kubectl_kres.model import objects as meta
from kubectl_kres.model.objects import ManagedFields, ManagedMetadata
from kubectl_kres.model.workload import Workload
from kubectl_kres.snapshot.redact import FIELDS, PARTS, redact, with_text
from kubectl_kres.snapshot.write import write
from kubectl_kres.store.store import Origin, Store

CANARY = "canary-7f3a"


def metadata(name):
    return {
        "name": name,
        "namespace": "n",
        "labels": {"app": "kept-label"},
        "selfLink": CANARY,
        "finalizers": [CANARY],
        "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": CANARY,
            "example.com/token": CANARY,
            CANARY: "x",
            "kubernetes.io/limit-ranger": "kept-annotation",
            "sidecar.istio.io/proxyCPU": CANARY,
        },
        "managedFields": [
            {
                "manager": CANARY,
                "operation": "Update",
                "fieldsType": CANARY,
                "fieldsV1": {"f:data": {f"f:{CANARY}": {}}},
            },
            {
                "manager": "kept-manager",
                "operation": "Apply",
                "apiVersion": CANARY,
                "time": "2026-11-20T10:00:00Z",
                "fieldsV1": {
                    "f:metadata": {"f:annotations": {f"f:{CANARY}": {}}},
                    "f:spec": {
                        "f:limits": {},
                        "f:template": {
                            "f:spec": {
                                "f:containers": {
                                    'k:{"name":"app"}': {
                                        "f:resources": {"f:limits": {"f:cpu": {}}},
                                        "f:env": {f'k:{{"name":"{CANARY}"}}': {"f:value": {}}},
                                        "f:image": {},
                                    }
                                }
                            }
                        },
                    },
                },
            },
        ],
    }


CONTAINER = {
    "name": "app",
    "image": "kept-image",
    "command": [CANARY],
    "args": [f"--password={CANARY}"],
    "workingDir": CANARY,
    "env": [
        {"name": CANARY, "value": CANARY},
        {"name": "B", "valueFrom": {"secretKeyRef": {"name": CANARY, "key": CANARY}}},
    ],
    "envFrom": [{"configMapRef": {"name": CANARY}, "prefix": CANARY}],
    "ports": [{"name": CANARY, "hostIP": CANARY}],
    "volumeMounts": [{"name": CANARY, "mountPath": CANARY, "subPath": CANARY}],
    "livenessProbe": {"exec": {"command": [CANARY]}, "httpGet": {"path": CANARY, "httpHeaders": [{"value": CANARY}]}},
    "lifecycle": {"preStop": {"exec": {"command": [CANARY]}}},
    "securityContext": {"seLinuxOptions": {"user": CANARY}},
    "terminationMessagePath": CANARY,
    "imagePullPolicy": CANARY,
    "resources": {"limits": {"cpu": "1"}, "requests": {"memory": "1Gi"}},
}
SPEC = {
    "containers": [CONTAINER],
    "initContainers": [CONTAINER],
    "ephemeralContainers": [{**CONTAINER, "targetContainerName": CANARY}],
    "volumes": [
        {"name": CANARY, "secret": {"secretName": CANARY}},
        {"name": "b", "csi": {"volumeAttributes": {"k": CANARY}}},
    ],
    "imagePullSecrets": [{"name": CANARY}],
    "serviceAccountName": "deployer",  # ServiceAccounts are kept, and whether it is there decides
    "hostAliases": [{"ip": CANARY, "hostnames": [CANARY]}],
    "hostname": CANARY,
    "dnsConfig": {"searches": [CANARY]},
    "nodeSelector": {CANARY: CANARY},
    "tolerations": [{"key": CANARY, "value": CANARY}],
    "schedulerName": "kept-scheduler",  # a pod that waits waits for it
    "securityContext": {"sysctls": [{"name": CANARY, "value": CANARY}]},
    "topologySpreadConstraints": [{"topologyKey": CANARY}],
    "affinity": {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"key": CANARY}]}},
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": CANARY, "labelSelector": {"matchLabels": {"a": "kept-selector"}}}  # as labels
            ]
        },
    },
}
STATUS = {
    "phase": "Running",
    "podIP": CANARY,
    "hostIP": CANARY,
    "nominatedNodeName": CANARY,
    "containerStatuses": [
        {
            "name": "app",
            "imageID": CANARY,
            "containerID": CANARY,
            "lastState": {"terminated": {"reason": "OOMKilled", "message": CANARY}},
        }
    ],
}
TEMPLATE = {"metadata": metadata("t"), "spec": SPEC}
RAW = {
    "Pod": {"metadata": metadata("a"), "spec": SPEC, "status": STATUS, "data": {"k": CANARY}},
    "Deployment": {
        "metadata": metadata("a"),
        "spec": {"template": TEMPLATE, "selector": {"matchLabels": {"app": "x"}}},
    },
    "CronJob": {
        "metadata": metadata("a"),
        "spec": {"schedule": CANARY, "jobTemplate": {"metadata": metadata("j"), "spec": {"template": TEMPLATE}}},
    },
    "StatefulSet": {
        "metadata": metadata("a"),
        "spec": {
            "template": TEMPLATE,
            "volumeClaimTemplates": [
                {"metadata": metadata("v"), "spec": {"volumeName": "kept-volume", "dataSource": {"name": CANARY}}}
            ],
        },
    },
    "PodTemplate": {"metadata": metadata("a"), "template": TEMPLATE},
    "ControllerRevision": {
        "metadata": metadata("a"),
        "data": {"spec": {"template": TEMPLATE}, "x": CANARY},
        "revision": 1,
    },
    "LimitRange": {
        "metadata": metadata("a"),
        "spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}, "x": CANARY}], "y": CANARY},
    },
    "Service": {
        "metadata": metadata("a"),
        "spec": {
            "type": "NodePort",
            "clusterIP": CANARY,
            "externalName": CANARY,
            "selector": {"a": CANARY},
            "ports": [{"port": 1, "name": CANARY}],
        },
    },
    "Event": {
        "metadata": metadata("a"),
        "reason": "kept-reason",
        "source": {"host": CANARY},
        "reportingInstance": CANARY,
    },
}
STEP = {
    "name": "kept-step",
    "image": "kept-image",
    "script": CANARY,
    "command": [CANARY],
    "args": [CANARY, f"$(step.artifacts.path)/{CANARY}"],
    "env": [{"name": "A", "value": CANARY}],
    "workingDir": f"{CANARY}/x",
    "securityContext": {"seLinuxOptions": {"user": CANARY}},
    "computeResources": {"requests": {"cpu": "1"}},
}
TASK = {
    "steps": [STEP],
    "stepTemplate": STEP,
    "sidecars": [{**STEP, "name": "kept-sidecar"}],
    "params": [{"name": "p", "default": CANARY, "description": CANARY}],
    "workspaces": [{"name": "w", "mountPath": CANARY}],
}
PARAMS = [{"name": "p", "value": CANARY}, {"name": "q", "value": [CANARY, "b"]}, {"name": "r", "value": {"k": CANARY}}]
PIPELINE = {
    "params": [{"name": "p", "default": CANARY}],
    "tasks": [
        {
            "name": "kept-task",
            "taskSpec": TASK,
            "params": [{"name": "a", "value": f"{CANARY} $(tasks.kept-before.results.r)"}],
            "matrix": {"params": PARAMS, "include": [{"params": PARAMS}]},
            "when": [{"input": CANARY, "values": [CANARY], "cel": CANARY}],
            "pipelineSpec": {"tasks": [CANARY]},
        }
    ],
}
RAW |= {
    "Task": {"metadata": metadata("a"), "spec": TASK},
    "StepAction": {"metadata": metadata("a"), "spec": STEP},
    "TaskRun": {
        "metadata": metadata("a"),
        "spec": {"taskRef": {"resolver": "git", "params": PARAMS}, "taskSpec": TASK, "params": PARAMS},
        "status": {"taskSpec": TASK},
    },
    "Pipeline": {"metadata": metadata("a"), "spec": PIPELINE},
    "PipelineRun": {
        "metadata": metadata("a"),
        "spec": {
            "pipelineSpec": PIPELINE,
            "params": PARAMS,
            "workspaces": [{"name": "w", "volumeClaimTemplate": {"spec": CANARY}, "secret": {"secretName": CANARY}}],
        },
        "status": {"pipelineSpec": PIPELINE},
    },
    "ConfigMap": {
        "metadata": metadata("a"),
        "data": {"password": CANARY, "default-pod-template": CANARY, "enable-api-fields": "kept-flag"},
    },
}


def written(tmp_path, name="x.kres"):
    store = Store(Origin("cluster"))
    for kind, raw in RAW.items():
        store.add(kind, msgspec.convert(raw, kinds.BY_KIND[kind].struct))
    raw = {**RAW["Pod"], "metadata": metadata("managed")}
    store.add("Pod", msgspec.convert(raw, pod.ManagedPod))
    write(store, str(tmp_path / name))
    return (tmp_path / name).read_bytes()


def test_no_canary_leaves_the_cluster(tmp_path):
    data = written(tmp_path)
    for kept in (
        "kept-label",
        "kept-annotation",
        "sidecar.istio.io/proxyCPU",
        "kept-manager",
        "kept-image",
        "kept-reason",
        "kept-step",
        "kept-sidecar",
        "$(tasks.kept-before.results.r)",
        "$(step.artifacts.path)",
        "kept-flag",
        "kept-scheduler",
        "kept-selector",
        # Whether a Tenant lets a claim name it.
        "kept-volume",
    ):
        assert kept.encode() in data, kept
    assert CANARY.encode() not in data
    assert CANARY.encode() not in gzip.decompress(written(tmp_path, "x.kres.gz"))


def test_the_managers_of_resource_fields_are_kept():
    kept = redact(msgspec.convert(RAW["Deployment"], kinds.BY_KIND["Deployment"].struct)).metadata.managed_fields
    fields = {'k:{"name":"app"}': {"f:resources": {"f:limits": {"f:cpu": {}}}}}
    tree = {"f:spec": {"f:limits": {}, "f:template": {"f:spec": {"f:containers": fields}}}}
    assert kept == (meta.ManagedFields("kept-manager", "Apply", "2026-11-20T10:00:00Z", "", tree),)


@pytest.mark.parametrize("tree", [None, "x", {}, {"f:spec": None}, {"f:spec": {"f:image": {}}}])
def test_managers_of_nothing_are_left_out(tree):
    entry = meta.ManagedFields("m", fields_v1=tree)
    assert (
        redact(pod.ManagedPod(metadata=meta.ManagedMetadata(managed_fields=(entry,)))).metadata.managed_fields is None
    )


KEYS = st.sampled_from([*sorted(FIELDS), "f:spec", "f:containers", 'k:{"name":"app"}', "f:limits ", "f:é", "."])
TREES = st.recursive(
    st.just({}) | st.none() | st.text(max_size=3),
    lambda below: st.dictionaries(KEYS, below, max_size=3) | st.lists(below, max_size=2),
    max_leaves=12,
)
ENTRIES = st.fixed_dictionaries(
    {"manager": st.sampled_from(["kubelet", "argocd-controller", "helm"])},
    optional={"operation": st.just("Apply"), "time": st.just("t"), "subresource": st.just("status"), "fieldsV1": TREES},
)


@given(st.lists(ENTRIES, max_size=4), st.booleans())
def test_of_managers_that_are_read_as_text_the_same_is_kept(entries, escaped):
    text = json.dumps({"metadata": {"name": "p", "managedFields": entries}}).encode()
    text = text.replace(b"f:", b"\\u0066:") if escaped else text
    whole, lazy = (msgspec.json.decode(text, type=one) for one in (pod.ManagedPod, with_text(pod.ManagedPod)))
    told, kept = (msgspec.json.encode(redact(one), order="deterministic") for one in (whole, lazy))
    assert kept == told


def test_what_needs_no_change_is_not_copied():
    item = pod.Pod(metadata=meta.Metadata(name="a", annotations={"vpaUpdates": "x"}))
    assert redact(item) is item


def metadata_paths(struct, path=()):
    """Every path of attributes from a struct to metadata in it, through lists too."""
    for field, hint in typing.get_type_hints(struct).items():
        for part in (
            hint,
            *typing.get_args(hint),
            *(deep for each in typing.get_args(hint) for deep in typing.get_args(each)),
        ):
            if isinstance(part, type) and issubclass(part, meta.Metadata):
                yield (*path, field)
            elif isinstance(part, type) and issubclass(part, msgspec.Struct) and part is not meta.OwnerReference:
                yield from metadata_paths(part, (*path, field))


@pytest.mark.parametrize("kind", sorted(kinds.BY_KIND))
def test_all_metadata_of_every_kind_is_reached(kind):
    paths = list(metadata_paths(kinds.BY_KIND[kind].struct))
    assert paths
    assert {step for path in paths for step in path} <= set(PARTS)


def test_the_applied_configuration_of_a_pod_is_cut_down_to_its_resources():
    applied = {
        "kind": "Pod",
        "metadata": {"name": "web", "annotations": {"note": CANARY}},
        "spec": {
            "containers": [
                {
                    "name": "app",
                    "env": [{"name": "PASSWORD", "value": CANARY}],
                    "args": [CANARY],
                    "resources": {"limits": {"cpu": "2"}},
                }
            ]
        },
    }
    key = "kubectl.kubernetes.io/last-applied-configuration"
    applied_pod = pod.Pod(metadata=meta.Metadata(name="web", annotations={key: json.dumps(applied)}))
    kept = (redact(applied_pod).metadata.annotations or {})[key]
    assert CANARY not in kept
    assert json.loads(kept)["spec"]["containers"] == [{"name": "app", "resources": {"limits": {"cpu": "2"}}}]


def test_who_chose_a_pool_and_its_namespaces_is_kept():
    moved = {"manager": "bob", "operation": "Update", "fieldsV1": {"f:spec": {"f:pool": {}}}}
    chose = {"manager": "flux", "operation": "Apply", "fieldsV1": {"f:spec": {"f:selectors": {}, "f:other": {}}}}
    claim = msgspec.convert({"metadata": {"managedFields": [moved]}}, kinds.BY_KIND["ResourcePoolClaim"].struct)
    pool = msgspec.convert({"metadata": {"managedFields": [chose]}}, kinds.BY_KIND["ResourcePool"].struct)
    kept = [redact(one).metadata.managed_fields[0] for one in (claim, pool)]
    assert [(one.manager, one.fields_v1) for one in kept] == [
        ("bob", {"f:spec": {"f:pool": {}}}),
        ("flux", {"f:spec": {"f:selectors": {}}}),
    ]


def test_who_keeps_an_object_is_kept_though_it_wrote_no_resources():
    """Else a snapshot would propose an edit that the tool undoes."""
    entries = (
        ManagedFields("argocd-controller", "Apply", fields_v1={"f:spec": {"f:replicas": {}}}),
        ManagedFields("kubectl-edit", "Update", fields_v1={"f:spec": {"f:replicas": {}}}),
    )
    notes = {"meta.helm.sh/release-name": "shop", "argocd.argoproj.io/tracking-id": "app:x", "other": "y"}
    metadata = redact(Workload(metadata=ManagedMetadata("web", annotations=notes, managed_fields=entries))).metadata
    assert [(one.manager, one.fields_v1) for one in metadata.managed_fields or ()] == [("argocd-controller", None)]
    assert metadata.annotations == {"meta.helm.sh/release-name": "shop", "argocd.argoproj.io/tracking-id": "app:x"}
