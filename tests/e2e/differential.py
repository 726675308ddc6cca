"""A run: settings are built on the real server, every object is asked for and predicted, answers are compared."""

from __future__ import annotations

import itertools
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import msgspec
from conformance.compare import differences
from e2e.asking import Asking, Data, Reply, answer
from e2e.generate import CLASSES, GLOBAL_DEFAULT, Setting
from e2e.resizes import NODES, Resize, put

from kubectl_kres.admission import limitrange as limitrange_object
from kubectl_kres.admission.base.draft import SIDES, Draft
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import explain_total, sum_pod
from kubectl_kres.admission.request.create import create
from kubectl_kres.admission.request.new_pod import Policies, policies_of
from kubectl_kres.admission.resize import resize
from kubectl_kres.model.kinds import describe
from kubectl_kres.model.objects import LimitRange, PriorityClass, ResourceQuota, RuntimeClass
from kubectl_kres.model.pod import Node, Pod
from kubectl_kres.provenance.journal import Assumption, Entry

COMPARED = ("allowed", "code", "reason", "message", "causes", "warnings", "object")
THREADS = 4
SETTLE_SECONDS = 60.0

# Requests are judged in threads.
describe()

#: Numbers stay the text that they were sent as, which is what the server parses.
_DECODER = msgspec.json.Decoder(float_hook=str)


@dataclass
class Judged:
    """One object, the server's answer and how the prediction differs from it; nothing: it does not.

    ``resized``: the stored pod, if the object is what a resize of it sends.
    """

    setting: str
    object: Data
    reply: Reply
    outcomes: Sequence[Outcome]
    faults: list[str]
    resized: Data | None = None

    @property
    def refused(self) -> bool:
        return self.reply.status >= 400

    @property
    def about(self) -> str:
        """What to know about a difference."""
        asked = json.dumps(self.object, ensure_ascii=False)
        was = [f"resized from: {json.dumps(self.resized, ensure_ascii=False)}"] if self.resized else []
        said = self.reply.body if self.refused else "admitted"
        return "\n  ".join([f"{self.setting}: {asked}", *was, f"answer: {said}", *self.faults])


@dataclass
class Results:
    """Everything that was judged, and the rules that predictions named."""

    judged: list[Judged] = field(default_factory=list)
    rules: Counter[str] = field(default_factory=Counter)

    def of_pods(self) -> list[Judged]:
        """Pods that were to be created."""
        return [one for one in self.judged if one.object["kind"] == "Pod" and one.resized is None]

    def of_resizes(self) -> list[Judged]:
        return [one for one in self.judged if one.resized is not None]

    def lines(self) -> Iterator[str]:
        """Counts for people."""
        several = sum(len(one.outcomes) > 1 for one in self.judged)
        yield (
            f"{len(self.judged)} requests: {_told(self.of_pods(), 'pods')}; {_told(self.of_resizes(), 'resizes')}; "
            f"{several} answers depend on an arbitrary order; {sum(bool(one.faults) for one in self.judged)} wrong"
        )
        yield from (f"  {rule}: {count}" for rule, count in sorted(self.rules.items()))


def _told(judged: Sequence[Judged], what: str) -> str:
    refused = Counter(one.reply.status for one in judged if one.refused)
    codes = ", ".join(f"{code}: {count}" for code, count in sorted(refused.items()))
    return f"{len(judged)} {what}, {refused.total()} refused ({codes})"


class Run:
    """One server with the settings on it. ``tag`` makes names of namespaces unique."""

    def __init__(self, asking: Asking, tag: str, server: Server = Server()) -> None:  # noqa: B008, it is frozen
        self.asking, self.tag, self.server, self.results = asking, tag, server, Results()
        self._barriers = itertools.count()

    def play(self, settings: Sequence[Setting]) -> Results:
        """Builds and judges all; the server keeps nothing but the namespaces and the classes."""
        for one in (*CLASSES, *NODES):
            self.asking.create(one)
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(self.prepare, settings))
            self.pass_nodes()
            self.pass_barrier()
            self._check_demands(pool, [one for one in settings if not one.global_default])
            self.asking.create(GLOBAL_DEFAULT)
            try:
                self.pass_barrier(default="usual")
                self._check_demands(pool, [one for one in settings if one.global_default])
            finally:
                self.asking.send("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/usual")
                self.pass_barrier()
        return self.results

    def namespace(self, setting: Setting) -> str:
        return f"{setting.name}-{self.tag}"

    def prepare(self, setting: Setting) -> None:
        """Creates namespace and policies, which are judged, too, and waits until the quotas are counted."""
        namespace = self.namespace(setting)
        self._make(namespace)
        for pod in setting.standing:
            self.asking.create(pod, namespace)
        for name, status in setting.running.items():
            self._report("Pod", namespace, name, status)
        empty = policies_of((), ())
        for policy in setting.policies:
            # Quotas that count LimitRanges or quotas take effect at any moment from here on.
            reply = self.asking.create(policy, namespace)
            if "exceeded quota" not in reply.body.get("message", ""):
                self._compare(setting, policy, empty, reply)
        until(
            lambda: all(
                quota["spec"]["hard"] == quota.get("status", {}).get("hard") for quota in self._quotas(namespace)
            )
        )
        for name, status in setting.statuses.items():
            self._report("ResourceQuota", namespace, name, status)

    def _report(self, kind: str, namespace: str, name: str, status: Data) -> None:
        """Writes a status over what is there."""
        found = dict(self.asking.get(kind, namespace, name))
        reply = self.asking.put(found | {"status": {**found.get("status", {}), **status}}, "status")
        assert reply.status == 200, reply.body

    def _make(self, namespace: str) -> None:
        assert self.asking.create({"kind": "Namespace", "metadata": {"name": namespace}}).status == 201

    def _quotas(self, namespace: str) -> list[Data]:
        return self.asking.get("ResourceQuota", namespace)["items"]

    def pass_barrier(self, default: str = "") -> None:
        """Waits until admission has seen every policy and class written so far.

        Its caches are filled in the order of writing, so the last write's effect is the sign. In an empty namespace the
        plugins look at the server itself and keep what they find for half a minute; a first request makes them keep
        that there was nothing.
        """
        namespace = f"barrier-{next(self._barriers)}-{self.tag}"
        self._make(namespace)
        pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        until(lambda: self.asking.create(pod, namespace, dry=True).status == 201)
        limits = {"limits": [{"type": "Container", "default": {"memory": "1Mi"}}]}
        self.asking.create({"kind": "LimitRange", "metadata": {"name": "last"}, "spec": limits}, namespace)

        def seen() -> bool:
            spec = self.asking.create(pod, namespace, dry=True).body["spec"]
            return "limits" in spec["containers"][0]["resources"] and spec.get("priorityClassName", "") == default

        until(seen)
        quota = {"kind": "ResourceQuota", "metadata": {"name": "last"}, "spec": {"hard": {"pods": "0"}}}
        self.asking.create(quota, namespace)
        until(lambda: self.asking.create(pod, namespace, dry=True).status == 403)

    def pass_nodes(self) -> None:
        """Waits until admission has seen the last node."""
        namespace = f"nodes-{self.tag}"
        self._make(namespace)
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
        spec = {"containers": [container], "nodeName": NODES[-1]["metadata"]["name"]}
        pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
        until(lambda: self.asking.create(pod, namespace).status == 201)
        stored = dict(self.asking.get("Pod", namespace, "p"))
        larger = Resize("p", "", put(("containers", 0), "requests", "cpu", "2"))
        until(lambda: self.asking.put(larger.of({"kind": "Pod", **stored}), "resize", dry=True).status == 200)

    def _check_demands(self, pool: ThreadPoolExecutor, settings: Sequence[Setting]) -> None:
        classes = (self._read("PriorityClass", PriorityClass), self._read("RuntimeClass", RuntimeClass))
        list(pool.map(lambda setting: self._judge_one(setting, classes), settings))

    def _judge_one(self, setting: Setting, classes: tuple[Any, Any]) -> None:
        namespace = self.namespace(setting)
        for object_ in setting.first:
            policies = self._policies(namespace, classes)
            reply = self.asking.create(object_, namespace)
            judged = self._compare(setting, object_, policies, reply)
            if reply.status == 201:
                judged.faults += self._charged(namespace, judged.outcomes)
        policies = self._policies(namespace, classes)
        for object_ in setting.cases:
            reply = self.asking.create(object_, namespace, dry=True)
            self._compare(setting, object_, policies, reply)
        pods = {pod["metadata"]["name"]: pod for pod in self.asking.get("Pod", namespace)["items"]}
        for asked in setting.resizes:
            if asked.pod in pods:
                self._resize(setting, {"kind": "Pod", **pods[asked.pod]}, asked, policies)

    def _resize(self, setting: Setting, stored: Data, asked: Resize, policies: Policies) -> None:
        sent = asked.of(stored)
        reply = self.asking.put(sent, "resize", dry=True)
        name = stored["spec"].get("nodeName", "")
        node = next((one for one in NODES if one["metadata"]["name"] == name), {})
        texts = (_DECODER.decode(json.dumps(one, ensure_ascii=False).encode()) for one in (stored, sent))
        old, new = (msgspec.convert(one, Pod) for one in texts)
        outcomes = resize(old, new, policies, self.server, node=msgspec.convert(node, Node))
        self._judged(Judged(setting.name, sent, reply, outcomes, [], stored), rules(sent, outcomes))

    def _charged(self, namespace: str, outcomes: Sequence[Outcome]) -> list[str]:
        """How the quotas differ from what an admitted object was to cost them."""
        used = {quota["metadata"]["name"]: quota["status"].get("used", {}) for quota in self._quotas(namespace)}
        found = [
            [
                f"quota {charge.quota}: {name} is {used[charge.quota].get(name)}, not {value}"
                for charge in outcome.charges
                for name, value in charge.after.items()
                if used[charge.quota].get(name) != value
            ]
            for outcome in outcomes
            if outcome.allowed
        ]
        return min(found, key=len, default=[])

    def _read(self, kind: str, type_: Any, namespace: str = "") -> list[Any]:
        return msgspec.convert(self.asking.get(kind, namespace)["items"], list[type_])

    def _policies(self, namespace: str, classes: tuple[Any, Any]) -> Policies:
        limits = self._read("LimitRange", LimitRange, namespace)
        return policies_of(limits, self._read("ResourceQuota", ResourceQuota, namespace), *classes)

    def _compare(self, setting: Setting, object_: Data, policies: Policies, reply: Reply) -> Judged:
        sent = _DECODER.decode(json.dumps(object_, ensure_ascii=False).encode())
        outcomes = create(sent, policies, self.server)
        return self._judged(Judged(setting.name, object_, reply, outcomes, []), rules(sent, outcomes))

    def _judged(self, judged: Judged, named: set[str]) -> Judged:
        parts = [one.refusal.parts for one in judged.outcomes if one.refusal and one.unordered]
        real = answer(judged.reply, parts)
        judged.faults += differences(real, [predicted(outcome) for outcome in judged.outcomes], COMPARED)
        self.results.judged.append(judged)
        self.results.rules.update(named)
        return judged


def predicted(outcome: Outcome) -> dict[str, Any]:
    """An outcome in the shape of an answer."""
    shown: dict[str, Any] = {"allowed": outcome.allowed, "code": outcome.code}
    if outcome.refusal is not None:
        message = outcome.message
        if outcome.unordered:
            message = message.replace(
                f"[{', '.join(outcome.refusal.parts)}]", f"[{', '.join(sorted(outcome.refusal.parts))}]"
            )
        shown |= {"reason": outcome.reason, "message": message}
        causes = [{key: text for key, text in msgspec.structs.asdict(one).items() if text} for one in outcome.causes]
        if causes:
            shown["causes"] = causes
    if outcome.warnings:
        shown["warnings"] = outcome.warnings
    if outcome.object is not None:
        shown["object"] = outcome.object
    return shown


def rules(sent: Data, outcomes: Sequence[Outcome]) -> set[str]:
    """The rules behind the outcomes: what they refuse for, their steps, and how the pod's totals come about."""
    found = {finding.rule for one in outcomes if one.refusal for finding in one.refusal.findings}
    for outcome in outcomes:
        found |= {entry.code if isinstance(entry, Assumption) else entry.rule for entry in outcome.journal}
        if isinstance(outcome.draft, Draft):
            totals = ((side, sum_pod(outcome.draft, side)) for side in SIDES)
            found |= {
                explain_total(outcome.draft, side, name, value).rule
                for side, sums in totals
                for name, value in sums.items()
            }
    if sent["kind"] == "LimitRange" and outcomes[0].code != 400:
        entries: list[Entry] = []
        limitrange_object.parse(msgspec.convert(sent, LimitRange), entries)
        found |= {entry.rule for entry in entries if not isinstance(entry, Assumption)}
    return found


def until(true: Callable[[], bool]) -> None:
    """Waits for a condition; raises TimeoutError if it does not come."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError("the server does not settle")
        time.sleep(0.02)
