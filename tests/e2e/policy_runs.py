"""Policies on a real server: what it says of each of them, and of the pods that they decide about."""

from __future__ import annotations

import functools
import http.client
import json
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from conformance.compare import differences
from conformance.policies import ADMIN
from e2e.asking import Asking, Data, Reply, _reordered
from e2e.differential import _DECODER, until
from e2e.judging import without_chance
from e2e.policy_generate import Object, grouped, policy

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import Policies, policies_of
from kubectl_kres.model.kinds import describe
from kubectl_kres.policies.rules.chain import PolicyAnswer, PolicyObjects, build_policy_objects, create

COMPARED = ("allowed", "code", "reason", "message", "causes", "warnings", "object", "noAnswer")
THREADS = 3
TRIES = 12
#: What no prediction can know of a stored object.
CHANCE = ("uid", "creationTimestamp", "managedFields", "resourceVersion", "selfLink")

# Requests are judged in threads.
describe()


@dataclass
class PolicyRun:
    """One server in one namespace. ``held``: the policies and bindings of each group that the server took."""

    asking: Asking
    server: Server
    namespace: str
    policies: Policies = field(default_factory=lambda: policies_of((), (), (), ()))
    extra: dict[str, Any] = field(default_factory=dict)
    held: dict[str, list[Object]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    messages: list[str] = field(default_factory=list)

    def install(self, groups: Sequence[tuple[str, list[Object]]]) -> None:
        """Creates all and judges what the server says of them; then waits until it acts by the last one."""
        with ThreadPoolExecutor(THREADS) as pool:
            for name, taken in pool.map(self._install, groups):
                if taken:
                    self.held[name] = taken
        barrier = policy(
            "ValidatingAdmissionPolicy",
            "zz-last",
            {"validations": [{"expression": "false", "messageExpression": _SAID}]},
        )
        last = policy(
            "MutatingAdmissionPolicy", "zz-last",
            {
                "reinvocationPolicy": "Never",
                "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": _LAST}}],
            },
        )  # fmt: skip
        pair = [*barrier, *last]
        for one in pair:
            if self.serves_kind(one["kind"]):
                assert self.asking.create(one).status in (201, 409)
        pod = grouped({"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [_PLAIN]}}, "zz-last")

        def seen() -> bool:
            reply = self.asking.create(pod, self.namespace, dry=True)
            said = str(reply.body.get("message", ""))
            return reply.status == 422 and (
                not self.serves_kind("MutatingAdmissionPolicy") or "request: mutated" in said
            )

        until(seen)

    def serves_kind(self, kind: str) -> bool:
        return kind.startswith("V") or self.server.version >= (1, 36)

    def _install(self, group: tuple[str, list[Object]]) -> tuple[str, list[Object]]:
        name, objects = group
        taken: list[Object] = []
        for one in objects:
            if not self.serves_kind(one["kind"]):
                continue
            reply = self.asking.create(one)
            self.counts[f"{one['kind']} {reply.status}"] += 1
            shown = {"allowed": reply.status < 400, "code": reply.status}
            answers = create(one, "", self.policies, self.server, PolicyObjects())
            if reply.status >= 400:
                parts = [known.outcome.refusal.parts for known in answers if known.outcome.refusal]
                shown |= {"reason": reply.body.get("reason"), "message": _reordered(reply.body["message"], parts)}
            self._compare(one, shown, [_plain(answer) for answer in answers], ("allowed", "code", "reason", "message"))
            if reply.status == 201:
                taken.append(one)
        return name, taken

    def judge(self, pods: Sequence[Object], *, each: int = 0) -> None:
        """Asks about every pod in every group; ``each``: about so many only, others in each group."""
        chosen = [
            (name, grouped(pods[(place + step) % len(pods)], name))
            for place, name in enumerate(self.held)
            for step in range(each or len(pods))
        ]
        self.ask(chosen)

    def ask(self, chosen: Sequence[tuple[str, Object]]) -> None:
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(lambda pair: self._check_demands(*pair), chosen))

    def _check_demands(self, group: str, pod: Object) -> None:
        reply = self._asked(pod)
        world = self._world(self.held.get(group, []))
        sent = _DECODER.decode(json.dumps(pod, ensure_ascii=False).encode())
        answers = create(sent, self.namespace, self.policies, self.server, world)
        shown: dict[str, Any] = {"allowed": False, "noAnswer": True}
        if reply is not None:
            shown = _shown(without_chance(reply, pod))
        self.counts[f"pod {shown.get('code')}"] += 1
        self.messages += [str(shown.get("message", "")), *shown.get("warnings", ())]
        unknown = {gap for one in answers for gap in one.unknown}
        if unknown:
            self.counts["not computed"] += 1
            self.wrong.append(f"not computed: {unknown} for {json.dumps(self.held.get(group), ensure_ascii=False)}")
            return
        parts = [one.outcome.refusal.parts for one in answers if one.outcome.refusal and one.outcome.unordered]
        if parts and "message" in shown:
            shown["message"] = _reordered(shown["message"], parts)
        predicted = [_predicted(one) for one in answers]
        if differences(shown, predicted, COMPARED) and self._varies(pod, shown, predicted):
            return
        self._compare([*self.held.get(group, ()), pod], shown, predicted, COMPARED)

    def _varies(self, pod: Object, shown: Data, predicted: Sequence[Data]) -> bool:
        """Whether the server itself says different things: where an expression hangs on the order of a map's keys."""
        for _ in range(TRIES):
            reply = self._asked(pod)
            again = shown if reply is None else _shown(without_chance(reply, pod))
            if again != shown:
                self.counts["arbitrary"] += 1
                return True
        return False

    def _asked(self, pod: Object) -> Reply | None:
        """None: the server closed the connection."""
        try:
            return self.asking.create(pod, self.namespace, dry=True)
        except http.client.RemoteDisconnected:
            return None

    def _world(self, objects: Sequence[Object]) -> PolicyObjects:
        by_kind: dict[str, list[Object]] = {}
        for one in objects:
            by_kind.setdefault(one["kind"], []).append(one)
        pairs = {
            kind: (by_kind.get(f"{kind}AdmissionPolicy", []), by_kind.get(f"{kind}AdmissionPolicyBinding", []))
            for kind in ("Validating", "Mutating")
        }
        return build_policy_objects(
            self.asking_space(), None, pairs["Validating"], pairs["Mutating"], user=ADMIN, version=self.server.version,
            **self.extra,
        )  # fmt: skip

    def asking_space(self) -> Data:
        """The namespace as the server has it."""
        return _space(self.asking, self.namespace)

    def _compare(self, about: Any, real: Data, predicted: Sequence[Data], keys: Sequence[str]) -> None:
        faults = differences(real, predicted, keys)
        if faults:
            said = real.get("message", "admitted")
            self.wrong.append("\n  ".join([json.dumps(about, ensure_ascii=False), f"answer: {said}", *faults]))


@functools.cache
def _space(asking: Asking, name: str) -> Data:
    return asking.get("Namespace", "", name)


_PLAIN = {"name": "c", "image": "i"}
_LAST = "Object{metadata: Object.metadata{labels: {'mutated': 'mutated'}}}"
_SAID = "object.metadata.?labels[?'mutated'].orValue('not')"


def _plain(answer: PolicyAnswer) -> dict[str, Any]:
    outcome = answer.outcome
    shown: dict[str, Any] = {"allowed": outcome.allowed, "code": outcome.code}
    return shown if outcome.allowed else {**shown, "reason": outcome.reason, "message": outcome.message}


def _predicted(answer: PolicyAnswer) -> dict[str, Any]:
    if answer.no_answer:
        return {"allowed": False, "noAnswer": True}
    outcome, shown = answer.outcome, _plain(answer)
    causes = [
        {key: text for key, text in (("reason", one.reason), ("message", one.message), ("field", one.field)) if text}
        for one in outcome.causes
    ]
    if causes and not outcome.allowed:
        shown["causes"] = _sorted(causes)
    if outcome.warnings:
        shown["warnings"] = list(outcome.warnings)
    if outcome.allowed and answer.stored_object is not None:
        shown["object"] = _without_chance(answer.stored_object)
    return shown


def _shown(reply: Reply) -> dict[str, Any]:
    shown: dict[str, Any] = {"allowed": reply.status < 400, "code": reply.status}
    if reply.status >= 400:
        shown |= {"reason": reply.body.get("reason", ""), "message": reply.body.get("message", "")}
        causes = (reply.body.get("details") or {}).get("causes") or ()
        if causes:
            shown["causes"] = _sorted(causes)
    else:
        shown["object"] = _without_chance(reply.body)
    if reply.warnings:
        shown["warnings"] = list(reply.warnings)
    return shown


def _sorted(causes: Sequence[Data]) -> list[Data]:
    return sorted(causes, key=lambda cause: (cause.get("field", ""), cause.get("message", "")))


def _without_chance(whole: Data) -> dict[str, Any]:
    metadata = {key: value for key, value in whole["metadata"].items() if key not in CHANCE}
    status = dict(whole.get("status") or {})
    if "conditions" in status:
        status["conditions"] = [{**one, "lastTransitionTime": "then"} for one in status["conditions"]]
    shown = {key: value for key, value in whole.items() if key not in ("apiVersion", "kind")}
    return {**shown, "metadata": metadata, "status": status}
