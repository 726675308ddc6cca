"""What lets an object be admitted: changes of names, quotas, requests and queues, tried where that can be computed.

A hold is never lifted by hand: Kueue suspends a Job again, deletes a pod, and ends a PipelineRun.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

from msgspec import structs

from kubectl_kres.kueue import model
from kubectl_kres.kueue.reports import fixes
from kubectl_kres.kueue.reports.account import account_of_workload, nearest, quota_field
from kubectl_kres.kueue.reports.record import QueueAccount
from kubectl_kres.kueue.reports.world import owner_name
from kubectl_kres.kueue.rules.charge import amount_text, to_units
from kubectl_kres.kueue.rules.flavors import PodSetRequest
from kubectl_kres.kueue.rules.placing import taints_of
from kubectl_kres.kueue.rules.world import QueueVerdict, QueueWorld, holds_quota, key_of
from kubectl_kres.kueue.stored import world_of
from kubectl_kres.model.objects import ObjectRef, ResourceList
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.quantity import parse
from kubectl_kres.record import Wording
from kubectl_kres.reports.common.remedy import Admits, Edit, RaiseQuota, Remedy, Scale, SetField, SetValue
from kubectl_kres.reports.remedies.commands import directed_command
from kubectl_kres.reports.remedies.compose import edit_file
from kubectl_kres.store.store import Store

#: Rounds in which quotas are raised until a Workload fits.
_ROUNDS = 8
_MOST = 4
#: Waiting Workloads up to which it is tried who comes first.
_TURNS = 60
_ADMITTED = fixes.QueueOutcome()


class QueueRemedies:
    """The search for one Workload, as it stands or as it would be made. ``of``: the object to change."""

    def __init__(
        self, store: Store, world: QueueWorld, workload: model.KueueWorkload, account: QueueAccount, of: ObjectRef
    ) -> None:
        self.store, self.world, self.workload, self.account, self.of = store, world, workload, account, of
        self.namespace = workload.metadata.namespace

    def found(self) -> Iterator[Remedy]:
        """Yield what helps, the smallest change first; a sentence where nothing can be tried."""
        search: Mapping[str, Callable[[], Iterator[Remedy]]] = {
            "no-local-queue": self._local_queue,
            "local-queue-stopped": self._stopped_local_queue,
            "no-cluster-queue": self._cluster_queue,
            "cluster-queue-inactive": self._inactive,
            "namespace": self._namespace,
            "resources": self._values,
            "limit-range": self._values,
            "NoMatchingFlavor": self._flavors,
            "ExceedsMaxQuota": self._quota,
            "WaitingForQuota": self._quota,
            "behind": self._head,
            "deactivated": self._deactivated,
            "backoff": self._backoff,
            "checks": self._checks,
        }
        find = search.get(self.account.cause)
        if find is not None:
            yield from find()

    def _verdict(self, world: QueueWorld | None = None, workload: model.KueueWorkload | None = None) -> QueueVerdict:
        changed = workload or self.workload
        return (world or self.world).with_workload(changed).answer(changed)

    def _tried(
        self, world: QueueWorld | None = None, workload: model.KueueWorkload | None = None
    ) -> tuple[bool, QueueVerdict]:
        """Return whether it is admitted once those before it had their turn, and what is said of it then."""
        changed, tried = workload or self.workload, world or self.world
        own = tried.with_workload(changed).queue_of(changed)
        name = own.metadata.name if own is not None else self.account.cluster_queue
        near = {name} | {
            other
            for other, queue in tried.queues.items()
            if queue.cohort and name in tried.queues and queue.cohort == tried.queues[name].cohort
        }
        kept = {
            key: each
            for key, each in tried.with_workload(changed).workloads.items()
            if holds_quota(each) or key == key_of(changed) or self._stands_in(tried, each, near)
        }
        now = structs.replace(tried, workloads=kept)
        if sum(not holds_quota(each) for each in kept.values()) > _TURNS:
            return False, now.answer(changed)
        for _ in range(_TURNS):
            turn = now.next_admission()
            if turn is None:
                break
            if key_of(turn[0]) == key_of(changed):
                return True, now.answer(changed)
            now = now.admitted(*turn)
        return False, now.answer(changed)

    @staticmethod
    def _stands_in(world: QueueWorld, workload: model.KueueWorkload, queues: Collection[str]) -> bool:
        queue = world.queue_of(workload)
        return queue is not None and queue.metadata.name in queues

    def _then(
        self, world: QueueWorld | None = None, workload: model.KueueWorkload | None = None
    ) -> fixes.QueueOutcome | None:
        """Return what comes of a change; None where it is no better off."""
        admitted, verdict = self._tried(world, workload)
        if admitted:
            return _ADMITTED
        if verdict.cause == "fits":
            return fixes.QueueOutcome("room")
        return fixes.QueueOutcome("turn") if verdict.cause in {"WaitingForQuota", "behind"} else None

    def _remedy(self, text: Wording, edits: Sequence[Edit] = (), commands: Sequence[str] = ()) -> Remedy:
        pods = sum(pod_set.count for pod_set in self.workload.spec.pod_sets or ())
        return Remedy(text, tuple(edits), tuple(commands), admits=Admits(pods, pods), proven=True)

    def _change(self, ref: ObjectRef, words: str) -> str:
        """Return the line that makes a change of an object: of one of a file that it is edited."""
        file = self.store.files.get(ref, "")
        return edit_file(file) if file else directed_command(self.store.origin, words)

    def _in_namespace(self, kind: str, name: str) -> str:
        return f"{kind} {shlex.quote(name)} -n {shlex.quote(self.namespace)}"

    def _in_queue(self, name: str) -> model.KueueWorkload:
        return structs.replace(self.workload, spec=structs.replace(self.workload.spec, queue_name=name))

    def _to_queue(self, name: str, why: str) -> Iterator[Remedy]:
        """Yield the change of the queue of the object, with what comes of it; none where nothing is won."""
        changed = self._in_queue(name)
        then = self._then(workload=changed)
        if why == "meant" and then is None:
            # The name is right, whatever else is wrong.
            then = fixes.QueueOutcome("waits", cause=self._verdict(workload=changed).cause)
        if then is None or (why != "meant" and then != _ADMITTED):
            return
        edit = SetField(self.of, f"metadata.labels[{model.QUEUE_LABEL}]", name, self.account.local_queue)
        words = (
            f"label {self._in_namespace(self.of.kind.lower(), self.of.name)} {model.QUEUE_LABEL}={shlex.quote(name)}"
        )
        commands = (self._change(self.of, f"{words} --overwrite"),) if self._is_relabelled() else ()
        yield self._remedy(fixes.NameLocalQueue(self.of, name, then), (edit,), commands)

    def _is_relabelled(self) -> bool:
        """Return whether the label of the object may be changed where it is: of a suspended Job, and of a gated pod."""
        return self.of.kind in {"Job", "Pod"} and self.store.get(self.of.kind, self.of.name, self.namespace) is not None

    def _other_queues(self) -> Iterator[Remedy]:
        for name in self.account.others:
            if name != self.account.local_queue:
                yield from self._to_queue(name, "room")

    def _local_queue(self) -> Iterator[Remedy]:
        if self.account.meant:
            yield from self._to_queue(self.account.meant, "meant")
        others = [name for name in self.account.others if name != self.account.meant]
        if not self.account.meant and others:
            yield Remedy(fixes.NameSomeLocalQueue(tuple(others), self.namespace))
        queues = tuple(sorted(self.world.queues)[:_MOST])
        yield Remedy(fixes.CreateLocalQueue(self.account.local_queue, self.namespace, queues))

    def _stopped_local_queue(self) -> Iterator[Remedy]:
        yield from self._other_queues()
        yield self._resume("LocalQueue", self.account.local_queue, namespaced=True)

    def _resume(self, kind: str, name: str, *, namespaced: bool) -> Remedy:
        place = self._in_namespace(kind.lower(), name) if namespaced else f"{kind.lower()} {shlex.quote(name)}"
        edit = SetField(ObjectRef(kind, name, self.namespace if namespaced else ""), "spec.stopPolicy", "None")
        words = f"""patch {place} --type merge -p '{{"spec":{{"stopPolicy":"None"}}}}'"""
        return Remedy(fixes.ResumeQueue(kind, name), (edit,), (self._change(edit.object, words),))

    def _cluster_queue(self) -> Iterator[Remedy]:
        yield from self._other_queues()
        account = self.account
        yield Remedy(fixes.CreateClusterQueue(account.cluster_queue, account.local_queue, account.meant))

    def _inactive(self) -> Iterator[Remedy]:
        yield from self._other_queues()
        for reason, name in self.account.faults:
            if reason == "Stopped":
                yield self._resume("ClusterQueue", self.account.cluster_queue, namespaced=False)
            elif reason == "FlavorNotFound":
                near = nearest(name, tuple(self.world.flavors or ()))
                yield Remedy(fixes.CreateFlavor(name, self.account.cluster_queue, near))
            elif reason == "AdmissionCheckNotFound":
                yield Remedy(fixes.CreateAdmissionCheck(name, self.account.cluster_queue))
            else:
                yield Remedy(fixes.SeeCheckController((name,), inactive=True))

    def _namespace(self) -> Iterator[Remedy]:
        yield from self._other_queues()
        queue = self.world.queue_of(self.workload)
        space = self.world.namespaces.get(self.namespace)
        selector = queue.spec.namespace_selector if queue is not None else None
        if queue is None or space is None:
            return
        if selector is None:
            yield Remedy(fixes.ChangeNamespaceSelector(queue.metadata.name, missing=True))
            return
        wanted = dict(selector.match_labels or {})
        for expression in selector.match_expressions or ():
            if expression.operator == "In" and expression.values:
                wanted.setdefault(expression.key, expression.values[0])
            elif expression.operator == "Exists":
                wanted.setdefault(expression.key, "")
        labels = {**(space.metadata.labels or {}), **wanted}
        changed = structs.replace(space, metadata=structs.replace(space.metadata, labels=labels))
        world = structs.replace(self.world, namespaces={**self.world.namespaces, self.namespace: changed})
        if self._verdict(world).cause == "namespace":
            yield Remedy(fixes.ChangeNamespaceSelector(queue.metadata.name))
            return
        pairs = {key: value for key, value in wanted.items() if (space.metadata.labels or {}).get(key) != value}
        words = " ".join(shlex.quote(f"{key}={value}") for key, value in pairs.items())
        space_ref = ObjectRef("Namespace", self.namespace)
        command = self._change(space_ref, f"label namespace {shlex.quote(self.namespace)} {words} --overwrite")
        fix = fixes.LabelNamespace(self.namespace, tuple(pairs.items()), self._then(world))
        yield self._remedy(fix, (), (command,))

    def _values(self) -> Iterator[Remedy]:
        for detail in self.account.details:
            path, resources, text = (*detail.split(": ", 2), "", "")[:3]
            container = self._container(path)
            bound: Literal["limit", "max", "min"] = "limit" if "limits" in text else "max" if "above" in text else "min"
            yield Remedy(fixes.KeepToBounds(resources, container, bound, self.namespace))

    def _container(self, path: str) -> str:
        """Return what a path of a pod set names."""
        for index, pod_set in enumerate(self.workload.spec.pod_sets or ()):
            spec = pod_set.template.spec
            for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
                for position, container in enumerate(containers or ()):
                    if path == f"spec.podSets[{index}].template.spec.{field}[{position}]":
                        return f"container {container.name}"
        return "the pod"

    def _flavors(self) -> Iterator[Remedy]:
        yield from self._other_queues()
        rows = [row for row in self.account.flavors if row.why]
        uncovered = [row.resource for row in rows if row.why == "uncovered"]
        if uncovered:
            yield Remedy(
                fixes.CoverResources(
                    tuple(uncovered),
                    self.account.cluster_queue,
                    annotated=self.of.kind == "PipelineRun",
                    expressions=self._has_expressions(),
                )
            )
            return
        for flavor in dict.fromkeys(row.flavor for row in rows if row.why == "taint"):
            yield from self._tolerating(flavor)
        for flavor in dict.fromkeys(row.flavor for row in rows if row.why == "affinity"):
            labels = (self.world.flavors or {})[flavor].spec.node_labels or {}
            yield Remedy(fixes.ChangePlacement(flavor, tuple(sorted(labels.items()))))

    def _tolerating(self, flavor: str) -> Iterator[Remedy]:
        taints = taints_of((self.world.flavors or {})[flavor])
        added = [{"key": each.key, "operator": "Equal", "value": each.value, "effect": each.effect} for each in taints]
        changed = self._with_pod_sets(
            lambda each: _with_spec(each, tolerations=[*(each.template.spec.tolerations or ()), *added])
        )
        if then := self._then(workload=changed):
            texts = tuple(f"{taint.key}={taint.value}:{taint.effect}" for taint in taints)
            yield self._remedy(fixes.TolerateTaints(texts, self.of, flavor, then))

    def _with_pod_sets(self, change: Callable[[model.PodSet], model.PodSet]) -> model.KueueWorkload:
        pod_sets = tuple(change(pod_set) for pod_set in self.workload.spec.pod_sets or ())
        return structs.replace(self.workload, spec=structs.replace(self.workload.spec, pod_sets=pod_sets))

    def _quota(self) -> Iterator[Remedy]:
        yield from self._fewer_pods()
        yield from self._smaller()
        yield from self._raised()
        yield from self._other_queues()
        if self.account.cause == "WaitingForQuota":
            yield Remedy(fixes.WaitForQuota())

    def _fewer_pods(self) -> Iterator[Remedy]:
        """Yield the most pods of a Job that fit now."""
        pod_sets = self.workload.spec.pod_sets or ()
        if self.of.kind != "Job" or len(pod_sets) != 1 or pod_sets[0].count < 2 or pod_sets[0].min_count is not None:
            return
        low, high, best = 1, pod_sets[0].count - 1, 0
        while low <= high:
            count = (low + high) // 2
            tried = self._with_pod_sets(partial(structs.replace, count=count))
            if self._tried(workload=tried)[0]:
                best, low = count, count + 1
            else:
                high = count - 1
        if best:
            edit = Scale(self.of, "spec.parallelism", best, pod_sets[0].count)
            place = self._in_namespace(self.of.kind.lower(), self.of.name)
            patch = json.dumps({"spec": {"parallelism": best}}, separators=(",", ":"))
            stored = self.store.get("Job", self.of.name, self.namespace) is not None
            commands = (self._change(self.of, f"patch {place} --type merge -p {shlex.quote(patch)}"),) if stored else ()
            yield self._remedy(fixes.RunFewerPods(self.of, best, pod_sets[0].count), (edit,), commands)

    def _smaller(self) -> Iterator[Remedy]:
        """Yield the most that each pod may be charged, in the flavor that leaves most of it, so that it fits now."""
        pod_sets = self.workload.spec.pod_sets or ()
        if len(pod_sets) != 1 or pod_sets[0].count < 1:
            return
        best: dict[str, int] = {}
        for flavor in dict.fromkeys(row.flavor for row in self.account.flavors):
            rows = [row for row in self.account.flavors if row.flavor == flavor]
            short = sorted(row.resource for row in rows if row.why in {"WaitingForQuota", "ExceedsMaxQuota"})
            if not short or "pods" in short or len(short) < sum(bool(row.why) for row in rows):
                continue
            cells = {name: self.world.capacity.left(self.account.cluster_queue, (flavor, name)) for name in short}
            most = {name: _round_down(name, units // pod_sets[0].count) for name, units in cells.items()}
            if all(units > 0 for units in most.values()) and (not best or tuple(most.values()) > tuple(best.values())):
                best = most
        remedy = self._with_most(pod_sets[0], best) if best else None
        if remedy is not None:
            yield remedy

    def _with_most(self, pod_set: model.PodSet, most: Mapping[str, int]) -> Remedy | None:
        """Return the remedy of charges that are no more than this; None where it still waits then."""
        spec = pod_set.template.spec
        texts = {name: amount_text(name, units) for name, units in most.items()}
        containers = spec.containers or ()
        if len(containers) == 1 and not (spec.init_containers or spec.resources or spec.overhead):
            resources = containers[0].resources or ResourceRequirements()
            requests = {**(resources.requests or {}), **texts}
            changed = structs.replace(containers[0], resources=structs.replace(resources, requests=requests))
            tried = self._with_pod_sets(lambda each: _with_spec(each, containers=(changed,)))
            if spec.runtime_class_name or not self._tried(workload=tried)[0]:
                return None
            if self.of.kind == "PipelineRun":
                return self._with_annotations(texts, resources.requests or {})
            edits = [
                SetValue(
                    self.of, f"spec.template.spec.containers[0].resources.requests[{name}]", name, text,
                    str(before) if (before := (resources.requests or {}).get(name)) is not None else None,
                    containers[0].name, "requests", "container",
                )
                for name, text in texts.items()
            ]  # fmt: skip
            return self._remedy(fixes.LowerRequests(_amounts(texts), containers[0].name), edits)
        queue = self.world.queue_of(self.workload)
        charge = self.world.charges(self.workload)[0][0].amounts
        lowered = {name: min(units, most.get(name, units)) for name, units in charge.items()}
        if queue is None or self.world.by_quota(queue, [PodSetRequest(pod_set, lowered)]).cause != "fits":
            return None
        return self._remedy(fixes.LowerRequests(_amounts(texts)))

    def _with_annotations(self, texts: Mapping[str, str], before: ResourceList) -> Remedy | None:
        """Return the remedy of a run that asks for this in its annotations; None where each run counts as one."""
        if model.RUNS in texts:
            return None
        edits = [
            SetField(self.of, f"metadata.annotations[{model.REQUESTS}{name}]", text, str(before.get(name, "")))
            for name, text in texts.items()
        ]
        return self._remedy(fixes.LowerAnnotations(_amounts(texts), expressions=self._has_expressions()), edits)

    def _has_expressions(self) -> bool:
        """Return whether tekton-kueue may add to the annotations of a run."""
        return self.store.get("ConfigMap", model.RUN_CONFIG, model.RUN_CONFIG_NAMESPACE) is not None

    def _raised(self) -> Iterator[Remedy]:
        """Yield larger quotas of one flavor with which it fits now."""
        found = [self._raise_until(flavor) for flavor in dict.fromkeys(row.flavor for row in self.account.flavors)]
        asked = {row.resource: row.asked for row in self.account.flavors}

        def parts(raised: Mapping[tuple[str, str], int]) -> float:
            return sum(
                units / max(1, to_units(name, parse(asked.get(name) or "1"))) for (_, name), units in raised.items()
            )

        if any(found):
            yield self._raise_remedy(min(filter(None, found), key=parts))

    def _raise_until(self, flavor: str) -> dict[tuple[str, str], int]:
        """Return by cell how much larger the nominal quotas have to be; empty where that does not help."""
        raised: dict[tuple[str, str], int] = {}
        name = self.account.cluster_queue
        for _ in range(_ROUNDS):
            world = structs.replace(self.world, queues={**self.world.queues, name: self._with_raised(raised)})
            admitted, verdict = self._tried(world)
            if admitted:
                return raised
            if verdict.decision is None:
                return {}
            short = [fault for fault in verdict.decision.faults if fault.lacks > 0]
            mine = [fault for fault in short if fault.flavor == flavor] or short[:1]
            if not mine:
                return {}
            for fault in mine:
                cell = (fault.flavor, fault.resource)
                raised[cell] = raised.get(cell, 0) + fault.lacks
        return {}

    def _with_raised(self, raised: Mapping[tuple[str, str], int]) -> model.ClusterQueue:
        queue = self.world.queues[self.account.cluster_queue]
        groups = tuple(
            structs.replace(
                group,
                flavors=tuple(
                    structs.replace(
                        flavor,
                        resources=tuple(
                            structs.replace(quota, nominal_quota=self._raised_text(flavor.name, quota.name, raised))
                            if (flavor.name, quota.name) in raised
                            else quota
                            for quota in flavor.resources or ()
                        ),
                    )
                    for flavor in group.flavors or ()
                ),
            )
            for group in queue.spec.resource_groups or ()
        )
        return structs.replace(queue, spec=structs.replace(queue.spec, resource_groups=groups))

    def _raised_text(self, flavor: str, resource: str, raised: Mapping[tuple[str, str], int]) -> str:
        nominal = self.world.capacity.quota(self.account.cluster_queue, (flavor, resource)).nominal
        return amount_text(resource, nominal + raised[flavor, resource])

    def _raise_remedy(self, raised: Mapping[tuple[str, str], int]) -> Remedy:
        name = self.account.cluster_queue
        queue = self.world.queues[name]
        ref = ObjectRef(model.CLUSTER_QUEUE, name)
        edits, changes, quotas = [], [], []
        for flavor, resource in raised:
            field = quota_field(queue, flavor, resource)
            to = self._raised_text(flavor, resource, raised)
            before = amount_text(resource, self.world.capacity.quota(name, (flavor, resource)).nominal)
            edits.append(RaiseQuota(ref, field, resource, to, before))
            pointer = "/" + field.replace("[", "/").replace("]", "").replace(".", "/")
            changes.append({"op": "replace", "path": pointer, "value": to})
            quotas.append(fixes.RaisedQuota(resource, flavor, before, to))
        patch = shlex.quote(json.dumps(changes, separators=(",", ":")))
        outcome = fixes.QueueOutcome(with_others=self.account.place > 1)
        command = self._change(ref, f"patch clusterqueue {shlex.quote(name)} --type json -p {patch}")
        return self._remedy(fixes.RaiseNominalQuota(name, tuple(quotas), outcome), edits, (command,))

    def _head(self) -> Iterator[Remedy]:
        """Yield what gets the head of the queue out of the way."""
        yield from self._other_queues()
        head = self.account.head
        waiting = self.world.workloads.get((head.workload.namespace, head.workload.name)) if head is not None else None
        if head is None or waiting is None:
            return
        kind, _, name = head.of.partition("/")
        account = account_of_workload(self.store, waiting)
        of = ObjectRef(kind, name, waiting.metadata.namespace)
        for remedy in QueueRemedies(self.store, self.world, waiting, account, of).found():
            yield structs.replace(remedy, text=fixes.MendHead(owner_name(waiting), remedy.text), admits=None)
        yield Remedy(fixes.RemoveHead(owner_name(waiting)))

    def _deactivated(self) -> Iterator[Remedy]:
        name = self.workload.metadata.name
        if self.of.kind == "PipelineRun":
            yield Remedy(fixes.StartNewRun(self.of))
            return
        if self.account.reason in {"Deactivated", ""}:
            patch = """'{"spec":{"active":true}}'"""
            place = self._in_namespace("workload.kueue.x-k8s.io", name)
            edit = SetField(ObjectRef(model.WORKLOAD, name, self.namespace), "spec.active", "true", "false")
            command = self._change(edit.object, f"patch {place} --type merge -p {patch}")
            yield Remedy(fixes.ReviveWorkload(name), (edit,), (command,))
            return
        yield Remedy(fixes.RemakeWorkload(name, self.of))

    def _backoff(self) -> Iterator[Remedy]:
        state = self.workload.status.requeue_state
        if state is not None and state.requeue_at:
            yield Remedy(fixes.WaitForRequeue(state.requeue_at))
        else:
            yield Remedy(fixes.RemakeWorkload(self.workload.metadata.name))

    def _checks(self) -> Iterator[Remedy]:
        names = [check.name for check in self.account.checks if check.state != "Ready"]
        if names:
            yield Remedy(fixes.SeeCheckController(tuple(names)))


def _amounts(texts: Mapping[str, str]) -> tuple[fixes.ResourceAmount, ...]:
    return tuple(fixes.ResourceAmount(name, text) for name, text in texts.items())


def _round_down(resource: str, units: int) -> int:
    """Return an amount that people would write: of bytes in Mi."""
    mebi = 2**20
    return units // mebi * mebi if resource in {"memory", "ephemeral-storage"} and units > mebi else units


def _with_spec(pod_set: model.PodSet, **fields: object) -> model.PodSet:
    """Return the pod set with other fields of its pods' spec."""
    template = pod_set.template
    spec = structs.replace(template.spec, **fields)
    return structs.replace(pod_set, template=structs.replace(template, spec=spec))


def remedies_of(
    store: Store, workload: model.KueueWorkload, account: QueueAccount, of: ObjectRef, *, planned: bool = False
) -> tuple[Remedy, ...]:
    """Return what lets a Workload be admitted. ``planned``: it does not exist yet."""
    world = world_of(store)
    if planned:
        world = world.with_workload(workload)
    return tuple(QueueRemedies(store, world, workload, account, of).found())
