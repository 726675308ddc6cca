"""Situations in which something wanted waits, fails, is off or has ended, as data; and near misses that are well."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Object = dict[str, Any]
#: Changes the status of a pod that exists: what a kubelet would report.
Report = Callable[[Object], Object]

LONG_AGO, LATELY = "2026-01-01T00:00:00Z", "now-60"


class Situation(NamedTuple):
    """``objects``: what is applied, the last one last. ``kubelet``: by the pod's app label, what is reported of its
    pods. ``events``: about pods, as (reason, message). ``late``: applied right before the question.
    """

    subject: str
    word: str
    reason: str
    objects: tuple[Object, ...]
    kubelet: Mapping[str, Report] = {}
    events: tuple[tuple[str, str], ...] = ()
    says: str = ""
    late: bool = False

    @property
    def held_up(self) -> bool:
        return self.word in {"waits", "fails"}


def meta(name: str, **more: Any) -> Object:
    return {"name": name, **more}


def box(name: str = "app", cpu: str = "1m", **more: Any) -> Object:
    return {"name": name, "image": "registry.example/app:1", "resources": {"requests": {"cpu": cpu}}, **more}


def pod(name: str = "p", *, cpu: str = "1m", labels: Object | None = None, owner: Object | None = None, **spec: Any):
    metadata = meta(name, labels={"app": name, **(labels or {})})
    if owner is not None:
        metadata["ownerReferences"] = [owner]
    spec.setdefault("containers", [box(cpu=cpu)])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def template(app: str, **spec: Any) -> Object:
    spec.setdefault("containers", [box(cpu=spec.pop("cpu", "1m"))])
    return {"metadata": {"labels": {"app": app}}, "spec": spec}


def workload(kind: str, name: str = "web", *, more: Object | None = None, labels: Object | None = None, **spec: Any):
    body: Object = {"selector": {"matchLabels": {"app": name}}, "template": template(name, **spec), **(more or {})}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta(name, labels=labels or {}), "spec": body}


def deploy(name: str = "web", replicas: int = 1, *, more: Object | None = None, **spec: Any) -> Object:
    return workload("Deployment", name, more={"replicas": replicas, **(more or {})}, **spec)


def sts(replicas: int = 1, *, more: Object | None = None, **spec: Any) -> Object:
    return workload("StatefulSet", more={"replicas": replicas, "serviceName": "web", **(more or {})}, **spec)


def job(name: str = "train", *, more: Object | None = None, labels: Object | None = None, **spec: Any) -> Object:
    body: Object = {"template": template(name, **{"restartPolicy": "Never", **spec}), **(more or {})}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta(name, labels=labels or {}), "spec": body}


def cron(**more: Any) -> Object:
    inner = {"template": template("tick", restartPolicy="Never")}
    spec = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": inner}, **more}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta("tick"), "spec": spec}


def claim(name: str, **spec: Any) -> Object:
    body = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta(name), "spec": body}


def quota(**hard: str) -> Object:
    named = {name.replace("_", "."): amount for name, amount in hard.items()}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta("team"), "spec": {"hard": named}}


def limits(**item: Any) -> Object:
    spec = {"limits": [{"type": "Container", **item}]}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta("lims"), "spec": spec}


def volume(kind: str, **fields: Any) -> Object:
    return {"volumes": [{"name": "v", kind: fields}]}


def taskrun(name: str = "build", status: Object | None = None, labels: Object | None = None, **spec: Any) -> Object:
    steps = {"taskSpec": {"steps": [{"name": "run", "image": "registry.example/step:1", "script": "true"}]}}
    made = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": meta(name, labels=labels or {}),
            "spec": {**steps, **{key.rstrip("_"): value for key, value in spec.items()}}}  # fmt: skip
    return {**made, "status": status} if status else made


def succeeded(status: str, reason: str, message: str = "", **more: Any) -> Object:
    condition = {"type": "Succeeded", "status": status, "reason": reason, "message": message,
                 "lastTransitionTime": LONG_AGO}  # fmt: skip
    return {"conditions": [condition], **more}


def run_pod(name: str = "build-pod", **spec: Any) -> Object:
    owner = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "name": "build", "controller": True}
    return pod(name, labels={"tekton.dev/taskRun": "build"}, owner=owner, **{"restartPolicy": "Never", **spec})


# What a kubelet reports.


def ready_condition(status: str, since: str = LONG_AGO, reason: str = "", message: str = "") -> Object:
    found = {"type": "Ready", "status": status, "lastTransitionTime": since, "reason": reason, "message": message}
    return {key: value for key, value in found.items() if value}


def statuses(pod: Object, state: Object, *, key: str = "containers", **more: Any) -> list[Object]:
    return [
        {"name": box["name"], "image": box["image"], "imageID": "", "restartCount": 0, "ready": False, "state": state,
         **more}
        for box in pod["spec"].get(key) or ()
    ]  # fmt: skip


def running(pod: Object, *, ready: bool = True, since: str = LONG_AGO, **more: Any) -> Object:
    state = {"running": {"startedAt": LONG_AGO}}
    return {"phase": "Running", "conditions": [ready_condition("True" if ready else "False", since)],
            "containerStatuses": statuses(pod, state, ready=ready, **more)}  # fmt: skip


def unready(pod: Object) -> Object:
    return running(pod, ready=False)


def waiting(reason: str, message: str = "", since: str = LONG_AGO, **more: Any) -> Report:
    def report(pod: Object) -> Object:
        state = {"waiting": {"reason": reason, "message": message}}
        return {"phase": "Pending", "conditions": [ready_condition("False", since, "ContainersNotReady")],
                "containerStatuses": statuses(pod, state, **more)}  # fmt: skip

    return report


def ended(reason: str, code: int, at: str = LATELY) -> Object:
    return {"terminated": {"reason": reason, "exitCode": code, "finishedAt": at, "startedAt": LONG_AGO}}


def crashing(reason: str = "Error", code: int = 1) -> Report:
    def report(pod: Object) -> Object:
        made = waiting("CrashLoopBackOff", "back-off 5m0s", restartCount=7, lastState=ended(reason, code))(pod)
        return {**made, "phase": "Running"}

    return report


def init_waiting(reason: str, message: str = "", **more: Any) -> Report:
    def report(pod: Object) -> Object:
        state = {"waiting": {"reason": reason, "message": message}}
        return {"phase": "Pending", "conditions": [ready_condition("False")],
                "initContainerStatuses": statuses(pod, state, key="initContainers", **more),
                "containerStatuses": statuses(pod, {"waiting": {"reason": "PodInitializing"}})}  # fmt: skip

    return report


def stopped(phase: str, reason: str, code: int) -> Report:
    def report(pod: Object) -> Object:
        return {"phase": phase, "containerStatuses": statuses(pod, ended(reason, code))}

    return report


def failed_init(reason: str, code: int) -> Report:
    def report(pod: Object) -> Object:
        return {"phase": "Failed", "initContainerStatuses": statuses(pod, ended(reason, code), key="initContainers"),
                "containerStatuses": statuses(pod, {"waiting": {"reason": "PodInitializing"}})}  # fmt: skip

    return report


def evicted(_pod: Object) -> Object:
    return {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}


def killed_long_ago(pod: Object) -> Object:
    return running(pod, restartCount=1, lastState=ended("OOMKilled", 137, LONG_AGO))


def killed_lately(pod: Object) -> Object:
    return running(pod, restartCount=3, lastState=ended("OOMKilled", 137))


def gate_unmet(pod: Object) -> Object:
    status = running(pod)
    message = 'the status of pod readiness gate "lb" is not "True", but False'
    return {**status, "conditions": [ready_condition("False", LONG_AGO, "ReadinessGatesNotReady", message)]}


def lost(pod: Object) -> Object:
    return {**running(pod), "conditions": [ready_condition("False", LONG_AGO)]}


_CREATING = waiting("ContainerCreating")
_JUST_CREATING = waiting("ContainerCreating", since="now-5")
_INIT = {"initContainers": [box("setup")]}
_LIMIT = [{**box(), "resources": {"limits": {"memory": "64Mi"}, "requests": {"memory": "64Mi"}}}]
_ASSISTANT = {
    "affinity": {
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {
                    "labelSelector": {
                        "matchLabels": {
                            "app.kubernetes.io/component": "affinity-assistant",
                            "app.kubernetes.io/instance": "affinity-assistant-0a1b2c3d4e",
                        }
                    },
                    "topologyKey": "kubernetes.io/hostname",
                }
            ]
        }
    }
}
_SPREAD = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    }
}
_ELSEWHERE = {
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["mars"]}]}]
            }
        }
    }
}
_KILLED_INIT = 'init container failed, "place-scripts" exited with code 137: OOMKilled'
_PENDING_RUN = succeeded("Unknown", "Pending", "", podName="build-pod")


def _claimed(name: str) -> Object:
    return volume("persistentVolumeClaim", claimName=name)


def _one_pod(word: str, reason: str, says: str = "", **spec: Any) -> Situation:
    return Situation("pod/p", word, reason, (pod(**spec),), says=says)


def _reported(word: str, reason: str, report: Report, says: str = "", **spec: Any) -> Situation:
    return Situation("pod/p", word, reason, (pod(**spec),), {"p": report}, says=says)


SITUATIONS: Mapping[str, Situation] = {
    # Pods without a node.
    "too-large": _one_pod("waits", "NoNode", "Insufficient cpu", cpu="64"),
    "selector": _one_pod("waits", "NoNode", "didn't match", nodeSelector={"disk": "ssd"}),
    "tainted": _one_pod("waits", "NoNode", "taint", cpu="8"),
    "zone": _one_pod("waits", "NoNode", "affinity", **_ELSEWHERE),
    "gate-kueue": Situation("pod/p", "waits", "SchedulingGate", (
        pod(labels={"kueue.x-k8s.io/queue-name": "lq"}, schedulingGates=[{"name": "kueue.x-k8s.io/admission"}]),
    ), says="queue lq"),
    "gate-aaq": _one_pod("waits", "SchedulingGate", "AAQ", schedulingGates=[{"name": "ApplicationAwareQuotaGate"}]),
    "gate-other": _one_pod("waits", "SchedulingGate", "example.com", schedulingGates=[{"name": "example.com/wait"}]),
    "gates": _one_pod("waits", "SchedulingGate", "a.example",
                      schedulingGates=[{"name": "a.example/x"}, {"name": "b.example/y"}]),
    "other-scheduler": _one_pod("waits", "NoScheduler", "kai", schedulerName="kai"),
    "claim-missing": _one_pod("waits", "MissingVolumeClaim", "PersistentVolumeClaim data", **_claimed("data")),
    "claim-class": Situation("pod/p", "waits", "UnboundVolumeClaim", (
        claim("data", storageClassName="gone"), pod(**_claimed("data")))),
    "claim-unbound": Situation("pod/p", "waits", "UnboundVolumeClaim", (
        claim("data", storageClassName=""), pod(**_claimed("data")))),
    "resource-claim": _one_pod("waits", "MissingResourceClaim", "ResourceClaim g",
                               resourceClaims=[{"name": "gpu", "resourceClaimName": "g"}]),
    "resource-template": _one_pod("waits", "MissingResourceClaim",
                                  resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gone"}]),
    # Pods whose containers do not start.
    "image": _reported("fails", "Image", waiting("ImagePullBackOff", 'Back-off pulling image "x"'),
                       "registry.example/app:1"),
    "image-never": _reported("fails", "Image", waiting("ErrImageNeverPull", "is not present")),
    "image-name": _reported("fails", "Image", waiting("InvalidImageName", "invalid reference format")),
    "image-pull": _reported("fails", "Image", waiting("ErrImagePull", "rpc error: not found")),
    "config-map": _reported("waits", "MissingConfigMap",
                            waiting("CreateContainerConfigError", 'configmap "settings" not found'), "settings"),
    "secret": _reported("waits", "MissingSecret",
                        waiting("CreateContainerConfigError", 'secret "token" not found'), "Secret token"),
    "config-key": _reported("waits", "MissingConfigMap", waiting(
        "CreateContainerConfigError", "couldn't find key mode in ConfigMap s-config-key/settings"), "settings"),
    "mount-config": Situation("pod/p", "waits", "MissingConfigMap", (pod(),), {"p": _CREATING},
        (("FailedMount", 'MountVolume.SetUp failed for volume "cfg" : configmap "cfg" not found'),), "ConfigMap cfg"),
    "mount-secret": Situation("pod/p", "waits", "MissingSecret", (pod(),), {"p": _JUST_CREATING},
        (("FailedMount", 'MountVolume.SetUp failed for volume "tls" : secret "tls" not found'),), "Secret tls"),
    "attach": Situation("pod/p", "waits", "MissingVolume", (pod(),), {"p": _CREATING},
        (("FailedAttachVolume", 'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) a'),),
        "Multi-Attach"),
    "sandbox": Situation("pod/p", "waits", "NotStarted", (pod(),), {"p": _CREATING},
        (("FailedCreatePodSandBox", "Failed to create pod sandbox: plugin type cni failed"),), "sandbox"),
    "not-started": _reported("waits", "NotStarted", _CREATING),
    "run-error": _reported("fails", "ContainerError", waiting("RunContainerError", "exec: no such file")),
    "crash": _reported("fails", "CrashLoop", crashing(), "exit code 1"),
    "killed": _reported("fails", "OOMKilled", crashing("OOMKilled", 137), "64Mi", containers=_LIMIT),
    "init-crash": _reported("fails", "CrashLoop",
                            init_waiting("CrashLoopBackOff", restartCount=4, lastState=ended("Error", 2)), **_INIT),
    "init-image": _reported("fails", "Image", init_waiting("ImagePullBackOff", "Back-off"), **_INIT),
    "init-killed": _reported("fails", "OOMKilled", init_waiting(
        "CrashLoopBackOff", restartCount=4, lastState=ended("OOMKilled", 137)), **_INIT),
    "not-ready": _reported("waits", "NotReady", unready),
    "readiness-gate": _reported("waits", "NotReady", gate_unmet, "readiness gate",
                                readinessGates=[{"conditionType": "lb"}]),
    "node-lost": _reported("waits", "NodeLost", lost),
    "evicted": _reported("fails", "Evicted", evicted, "low on resource"),
    # Workloads.
    "deploy-node": Situation("deployment/web", "waits", "NoNode", (deploy(replicas=3, nodeSelector={"disk": "ssd"}),),
                             says="3 of 3 pods"),
    "deploy-spread": Situation("deployment/web", "waits", "NoNode", (deploy(replicas=3, **_SPREAD),), {"web": running},
                               says="of 3 pods"),
    "deploy-gate": Situation("deployment/web", "waits", "SchedulingGate", (
        deploy(replicas=2, schedulingGates=[{"name": "kueue.x-k8s.io/admission"}]),), says="Kueue"),
    "deploy-scheduler": Situation("deployment/web", "waits", "NoScheduler", (deploy(schedulerName="kai"),)),
    "deploy-quota": Situation("deployment/web", "waits", "Quota", (quota(pods="0"), deploy(replicas=2))),
    "deploy-partly": Situation("deployment/web", "waits", "Quota", (quota(pods="1"), deploy(replicas=2)),
                               {"web": running}),
    "deploy-bounds": Situation("deployment/web", "waits", "Refused", (limits(max={"cpu": "100m"}), deploy(cpu="2"))),
    "deploy-account": Situation("deployment/web", "waits", "MissingServiceAccount", (
        deploy(replicas=2, serviceAccountName="deployer"),), says="deployer"),
    "deploy-priority": Situation("deployment/web", "waits", "Refused", (deploy(priorityClassName="hihg"),)),
    "deploy-claim": Situation("deployment/web", "waits", "MissingVolumeClaim", (deploy(**_claimed("data")),)),
    "deploy-unbound": Situation("deployment/web", "waits", "UnboundVolumeClaim", (
        claim("data", storageClassName="gone"), deploy(**_claimed("data"))), says="PersistentVolumeClaim data"),
    "deploy-crash": Situation("deployment/web", "fails", "CrashLoop", (deploy(replicas=2),), {"web": crashing()}),
    "deploy-killed": Situation("deployment/web", "fails", "OOMKilled", (deploy(containers=_LIMIT),),
                               {"web": crashing("OOMKilled", 137)}, says="64Mi"),
    "deploy-image": Situation("deployment/web", "fails", "Image", (deploy(),), {"web": waiting("ErrImagePull", "no")}),
    "deploy-ready": Situation("deployment/web", "waits", "NotReady", (deploy(replicas=2),), {"web": unready}),
    "set-node": Situation("replicaset/web", "waits", "NoNode", (
        workload("ReplicaSet", more={"replicas": 2}, cpu="64"),)),
    "controller-node": Situation("replicationcontroller/web", "waits", "NoNode", ({
        "apiVersion": "v1", "kind": "ReplicationController", "metadata": meta("web"),
        "spec": {"replicas": 1, "selector": {"app": "web"}, "template": template("web", cpu="64")}},)),
    "sts-node": Situation("statefulset/web", "waits", "NoNode", (sts(2, cpu="64"),)),
    "sts-claim": Situation("statefulset/web", "waits", "UnboundVolumeClaim", (
        sts(1, more={"volumeClaimTemplates": [claim("data", storageClassName="gone")]}),), says="data-web-0"),
    "sts-ready": Situation("statefulset/web", "waits", "NotReady", (sts(3),), {"web": unready}),
    "ds-image": Situation("daemonset/web", "fails", "Image", (workload("DaemonSet"),),
                          {"web": waiting("ImagePullBackOff", "Back-off")}),
    "ds-ready": Situation("daemonset/web", "waits", "NotReady", (workload("DaemonSet"),), {"web": unready}),
    "job-node": Situation("job/train", "waits", "NoNode", (job(cpu="64"),)),
    "job-quota": Situation("job/train", "waits", "Quota", (quota(pods="0"), job())),
    "job-queue": Situation("job/train", "waits", "Queue", (
        job(more={"suspend": True}, labels={"kueue.x-k8s.io/queue-name": "lq"}),), says="queue lq"),
    "job-failed": Situation("job/train", "fails", "JobFailed", (job(more={"backoffLimit": 0}),),
                            {"train": stopped("Failed", "Error", 1)}),
    "job-killed": Situation("job/train", "fails", "OOMKilled", (job(more={"backoffLimit": 0}, containers=_LIMIT),),
                            {"train": stopped("Failed", "OOMKilled", 137)}, says="64Mi"),
    # Runs of Tekton.
    "taskrun-pending": Situation("taskrun/build", "waits", "TaskRunPending", (
        taskrun(status_="TaskRunPending"),), says="TaskRunPending"),
    "pipelinerun-pending": Situation("pipelinerun/ci", "waits", "PipelineRunPending", ({
        "apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "metadata": meta("ci"),
        "spec": {"status": "PipelineRunPending", "pipelineSpec": {"tasks": [
            {"name": "a", "taskSpec": {"steps": [{"name": "run", "image": "registry.example/step:1"}]}}]}}},)),
    "taskrun-quota": Situation("taskrun/build", "waits", "Quota", (quota(pods="0"), taskrun(
        status=succeeded("Unknown", "ExceededResourceQuota", "exceeded quota: team")))),
    "taskrun-node": Situation("taskrun/build", "waits", "NoNode", (taskrun(status=_PENDING_RUN), run_pod(cpu="64"))),
    "taskrun-assistant": Situation("taskrun/build", "waits", "AffinityAssistant", (
        taskrun(status=_PENDING_RUN), run_pod(**_ASSISTANT)), says="affinity-assistant-0a1b2c3d4e"),
    "taskrun-image": Situation("taskrun/build", "fails", "Image", (taskrun(status=_PENDING_RUN), run_pod()),
                               {"build-pod": waiting("ImagePullBackOff", "Back-off")}),
    "taskrun-killed": Situation("taskrun/build", "fails", "OOMKilled", (
        taskrun(status=succeeded("False", "Failed", _KILLED_INIT, podName="build-pod")),
        run_pod(initContainers=[{**box("place-scripts"), "resources": {"limits": {"memory": "8Mi"}}}])),
        {"build-pod": failed_init("OOMKilled", 137)}, says="place-scripts"),
    # Near misses: off on purpose, ended, starting, well.
    "starting": Situation("pod/p", "starting", "", (pod(schedulerName="kai"),), late=True),
    "starting-bound": _reported("starting", "", _JUST_CREATING),
    "job-complete": Situation("job/train", "ended", "", (job(),), {"train": stopped("Succeeded", "Completed", 0)}),
    "pod-complete": Situation("pod/p", "ended", "", (pod(restartPolicy="Never"),),
                              {"p": stopped("Succeeded", "Completed", 0)}),
    "scaled-to-0": Situation("deployment/web", "off", "ScaledToZero", (deploy(replicas=0),), says="scaled to 0"),
    "sts-scaled-to-0": Situation("statefulset/web", "off", "ScaledToZero", (sts(0),), says="scaled to 0"),
    "cron-suspended": Situation("cronjob/tick", "off", "Suspended", (cron(suspend=True),), says="suspended"),
    "job-suspended": Situation("job/train", "off", "Suspended", (job(more={"suspend": True}),), says="suspended"),
    "paused": Situation("deployment/web", "off", "Paused", (deploy(more={"paused": True}),), says="paused"),
    "well": Situation("deployment/web", "runs", "", (deploy(replicas=2),), {"web": running}),
    "well-pod": _reported("runs", "", running),
    "well-ds": Situation("daemonset/web", "runs", "", (workload("DaemonSet"),), {"web": running}),
    "well-sts": Situation("statefulset/web", "runs", "", (sts(1),), {"web": running}),
    "killed-once": _reported("runs", "", killed_long_ago),
    "killed-lately": _reported("runs", "OOMKilled", killed_lately, containers=_LIMIT),
}  # fmt: skip
