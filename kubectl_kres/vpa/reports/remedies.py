"""What to change so that evicted pods come back, or that nothing is evicted without an end: edits that were tried."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.admission.quota.quota_admission import Quota
from kubectl_kres.admission.request.new_pod import Policies, admit
from kubectl_kres.model.objects import ObjectRef, decode_object, on_wire
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.parts import Admits, RaiseQuota, Remedy, SetField
from kubectl_kres.reports.remedies.commands import directed_command, keeper_of
from kubectl_kres.reports.remedies.words import compose_remedy, edit_file
from kubectl_kres.store.store import Store
from kubectl_kres.vpa.model import KIND, WEBHOOK, VerticalPodAutoscaler
from kubectl_kres.vpa.registration import is_registered
from kubectl_kres.vpa.reports.eviction import BAD, Eviction
from kubectl_kres.vpa.reports.registered_webhook import autoscaler_of
from kubectl_kres.vpa.reports.updater_run import UpdaterRun
from kubectl_kres.vpa.rules.amounts import SCALED
from kubectl_kres.vpa.rules.autoscaler import EVERY_OTHER, Autoscaler, parse_autoscaler
from kubectl_kres.vpa.rules.webhook import VpaWebhook

#: The step in which amounts are looked for: cpu in ten thousandths, memory in Mi.
_STEP = {"cpu": 10 * 10**6, "memory": 2**20 * 10**9}
_POLICIES = "spec.resourcePolicy.containerPolicies"
#: Resources that are capped one after the other.
_MOST_CAPPED = 4

_Raw = dict[str, Any]


class _Trial:
    """The world of one autoscaler, in which changes of it and of quotas are tried."""

    def __init__(
        self, store: Store, ask: EvaluationOptions, vpa: VerticalPodAutoscaler, target: Subject, analysis: Analysis
    ) -> None:
        self.store, self.ask, self.vpa, self.target, self.analysis = store, ask, vpa, target, analysis
        self.ref = ObjectRef(KIND, vpa.metadata.name, vpa.metadata.namespace)
        self.raw: _Raw = on_wire(vpa)

    def run(self, raw: _Raw | None = None, quotas: tuple[Quota, ...] | None = None) -> UpdaterRun | None:
        """Return a run of the updater after a change; None: no server would store the autoscaler."""
        try:
            changed = parse_autoscaler(decode_object(raw or self.raw, VerticalPodAutoscaler))
        except Unparsable:
            return None
        if changed is None:
            return None
        policies = _with_autoscaler(self.analysis.known.policies, changed, quotas)
        outcomes = admit(self.analysis.start.pod, policies, self.analysis.server, journal=False)
        known = structs.replace(self.analysis.known, policies=policies)
        analysis = structs.replace(self.analysis, known=known, outcomes=outcomes)
        return UpdaterRun(self.store, self.ask, changed, self.target, analysis)

    def helps(self, raw: _Raw | None = None, quotas: tuple[Quota, ...] | None = None) -> bool:
        """Return whether after a change the next pod is admitted, and what is evicted comes back for good."""
        run = self.run(raw, quotas)
        return run is not None and not self._find_refusal(run) and run.eviction().result not in BAD

    def refusal(self, raw: _Raw) -> tuple[Finding, ...]:
        """Return what refuses the next pod, or one that is missing after an eviction."""
        run = self.run(raw)
        if run is None:
            return ()
        run.eviction()
        return self._find_refusal(run) or run.refused

    def _find_refusal(self, run: UpdaterRun) -> tuple[Finding, ...]:
        """Return what refuses the next pod whatever room there is."""
        refusal = run.analysis.outcomes[0].refusal
        findings = () if refusal is None else refusal.findings
        return tuple(finding for finding in findings if not finding.rule.startswith("quota/"))


def _with_autoscaler(policies: Policies, changed: Autoscaler, quotas: tuple[Quota, ...] | None) -> Policies:
    webhooks = tuple(
        structs.replace(webhook, autoscalers={**webhook.autoscalers, changed.target: changed})
        if isinstance(webhook, VpaWebhook) and changed.target in webhook.autoscalers
        else webhook
        for webhook in policies.webhooks
    )
    return structs.replace(policies, webhooks=webhooks, quotas=policies.quotas if quotas is None else quotas)


def eviction_remedies(
    store: Store,
    ask: EvaluationOptions,
    vpa: VerticalPodAutoscaler,
    target: Subject,
    analysis: Analysis,
    eviction: Eviction,
) -> tuple[Remedy, ...]:
    """Return alternatives, each complete alone; those that let pods come before those that evict none."""
    trial = _Trial(store, ask, vpa, target, analysis)
    refused = any(outcome.refusal is not None for outcome in analysis.outcomes[:1])
    if eviction.result == "too-few":
        return tuple(_field(trial, ("updatePolicy", "minReplicas"), eviction.pods, "it evicts from so few pods then"))
    if eviction.result not in BAD and not (refused and trial.refusal(trial.raw)):
        return ()
    result: list[Remedy] = []
    if eviction.result == "again":
        result += _registered(store)
    else:
        result += _raise_remedies(trial, eviction)
        result += _capped(trial)
        result += _requests_only(trial)
    if eviction.result in BAD:
        result += _field(trial, ("updatePolicy", "updateMode"), "Initial", "nothing is evicted then")
    return tuple(result)


def pod_remedies(store: Store, subject: Subject, analysis: Analysis) -> tuple[Remedy, ...]:
    """Return what to change of the autoscaler where its values are what refuses the next pod of a workload."""
    autoscaler = autoscaler_of(store, analysis)
    vpa = store.get(KIND, autoscaler.source.name, subject.ref.namespace) if autoscaler is not None else None
    if not isinstance(vpa, VerticalPodAutoscaler):
        return ()
    bare = structs.replace(analysis.known.policies, webhooks=())
    if not any(outcome.allowed for outcome in admit(analysis.start.pod, bare, analysis.server, journal=False)):
        return ()
    ask = EvaluationOptions(analysis.server)
    return eviction_remedies(store, ask, vpa, subject, analysis, Eviction("no-pods"))


def _registered(store: Store) -> Iterator[Remedy]:
    if is_registered(store) is False:
        yield Remedy(f"register the webhook {WEBHOOK} again: its admission controller does so as it starts")


def _field(trial: _Trial, path: tuple[str, str], value: Any, then: str) -> Iterator[Remedy]:
    """Yield the remedy that sets one field of the spec, if it helps."""
    raw = deepcopy(trial.raw)
    group = raw["spec"].setdefault(path[0], {}) or {}
    before, raw["spec"][path[0]] = group.get(path[1]), {**group, path[1]: value}
    if not trial.helps(raw):
        return
    field = f"spec.{'.'.join(path)}"
    edit = SetField(trial.ref, field, str(value), None if before in (None, "") else str(before))
    text = f"set {path[1]} of {trial.ref} to {value}: {then}"
    yield _remedy(trial, text, (edit,), {"spec": {path[0]: {path[1]: value}}})


def _remedy(trial: _Trial, text: str, edits: tuple[SetField, ...], patch: Mapping[str, Any]) -> Remedy:
    ref = trial.ref
    kept = keeper_of(ref, trial.vpa.metadata)
    if ref in trial.store.files:
        kept = edit_file(trial.store.files[ref])
    wire = shlex.quote(json.dumps(patch, separators=(",", ":")))
    words = f"patch vpa {shlex.quote(ref.name)} -n {shlex.quote(ref.namespace)} --type merge -p {wire}"
    command = () if kept else (directed_command(trial.store.origin, words),)
    return Remedy(text, edits, command, kept, proven=True)


def _raise_remedies(trial: _Trial, eviction: Eviction) -> Iterator[Remedy]:
    """Yield the remedy that raises quotas to what all pods need once they have come, if that is enough."""
    run = trial.run()
    if run is None or not eviction.missing:
        return
    run.eviction()
    quotas, edits = [], []
    for quota in run.policies.quotas:
        needed = run.highest_usage(quota)
        more = {name: amount for name, amount in needed.items() if name in quota.hard and amount > quota.hard[name]}
        for name, amount in more.items():
            ref = ObjectRef("ResourceQuota", quota.name, trial.ref.namespace)
            before = str(quota.hard[name])
            edits.append(RaiseQuota(ref, f"spec.hard[{name}]", name, str(amount), before))
        hard = {**quota.hard, **more}
        quotas.append(Quota(quota.name, quota.source, quota.scopes, hard, quota.used, quota.words, quota.hard_at))
    if not edits or not trial.helps(quotas=tuple(quotas)):
        return
    pods = eviction.kept + eviction.come + eviction.missing
    yield compose_remedy(trial.store, trial.target, edits, Admits(pods, pods), eviction.kept + eviction.come)


def _capped(trial: _Trial) -> Iterator[Remedy]:
    """Yield the remedy that bounds what the autoscaler sets: by less minAllowed where that is what refuses, else by
    maxAllowed.
    """
    raw, edits = deepcopy(trial.raw), []
    for _ in range(_MOST_CAPPED):
        names = dict.fromkeys(_resource(finding) for finding in trial.refusal(raw))
        name = next((name for name in names if name in SCALED), "")
        if not name:
            return
        bounded = _bounded(trial, raw, name)
        if bounded is None:
            return
        raw, edit = bounded
        edits.append(edit)
        if trial.helps(raw):
            texts = [f"{edit.field.rpartition('.')[2]} to {edit.to}" for edit in edits]
            patch = {"spec": {"resourcePolicy": raw["spec"]["resourcePolicy"]}}
            yield _remedy(trial, f"set {', '.join(texts)} in {trial.ref}", tuple(edits), patch)
            return


def _resource(finding: Finding) -> str:
    return finding.resource.removeprefix("requests.").removeprefix("limits.")


def _bounded(trial: _Trial, raw: _Raw, name: str) -> tuple[_Raw, SetField] | None:
    """Return the autoscaler with the largest bound of a resource with which that resource no longer refuses."""
    container, target = _largest(raw, name)
    if target is None:
        return None
    step = _STEP[name]
    low, high = 0, max(1, -(-target.nano // step))
    while high - low > 1:
        middle = (low + high) // 2
        tried, _ = _with_bound(raw, container, name, Quantity(middle * step, target.format))
        passes = name not in {_resource(finding) for finding in trial.refusal(tried)}
        low, high = (middle, high) if passes else (low, middle)
    return _with_bound(raw, container, name, _amount(name, low * step)) if low else None


def _amount(name: str, nano: int) -> Quantity:
    return Quantity(nano, "DecimalSI" if name == "cpu" else "BinarySI")


def _largest(raw: _Raw, name: str) -> tuple[str, Quantity | None]:
    """Return the container that most of a resource is recommended for, or that has the largest minAllowed, and that."""
    candidates: list[tuple[Quantity, str]] = []
    recommendation = (raw.get("status") or {}).get("recommendation") or {}
    for each in recommendation.get("containerRecommendations") or ():
        container = str(each.get("containerName", ""))
        policy = _policy(raw, container)
        least = ((policy or {}).get("minAllowed") or {}).get(name)
        amounts = [parse(str(value)) for value in ((each.get("target") or {}).get(name), least) if value is not None]
        if amounts:
            candidates.append((max(amounts, key=lambda amount: amount.nano), container))
    largest = max(candidates, key=lambda pair: pair[0].nano, default=None)
    return (largest[1], largest[0]) if largest is not None else ("", None)


def _policies_in(raw: _Raw) -> list[_Raw]:
    return list((raw["spec"].get("resourcePolicy") or {}).get("containerPolicies") or ())


def _policy(raw: _Raw, container: str) -> _Raw | None:
    """Return the policy that is about a container. Of several the first one counts, as for ``parse_autoscaler``."""
    own = [policy for policy in _policies_in(raw) if policy.get("containerName") == container]
    rest = [policy for policy in _policies_in(raw) if policy.get("containerName") == EVERY_OTHER]
    return own[0] if own else rest[-1] if rest else None


def _with_bound(raw: _Raw, container: str, name: str, bound: Quantity) -> tuple[_Raw, SetField]:
    """Return the autoscaler with maxAllowed for a container, and minAllowed no higher."""

    def change(policy: _Raw) -> tuple[str, Any]:
        least = (policy.get("minAllowed") or {}).get(name)
        if least is not None and parse(str(least)) > bound:
            policy["minAllowed"] = {**policy["minAllowed"], name: str(bound)}
            most = (policy.get("maxAllowed") or {}).get(name)
            if most is not None and parse(str(most)) < bound:
                policy["maxAllowed"] = {**policy["maxAllowed"], name: str(bound)}
            return f"minAllowed[{name}]", least
        before = (policy.get("maxAllowed") or {}).get(name)
        policy["maxAllowed"] = {**(policy.get("maxAllowed") or {}), name: str(bound)}
        return f"maxAllowed[{name}]", before

    return _changed_policy(raw, container, change, str(bound))


def _changed_policy(
    raw: _Raw, container: str, change: Callable[[_Raw], tuple[str, Any]], to: str
) -> tuple[_Raw, SetField]:
    """Return the autoscaler with one policy changed, or a new one for the container, and the edit."""
    new = deepcopy(raw)
    group = new["spec"]["resourcePolicy"] = dict(new["spec"].get("resourcePolicy") or {})
    policies = group["containerPolicies"] = list(group.get("containerPolicies") or ())
    own = _policy(new, container)
    if own is None:
        policies.append({"containerName": container})
        own = policies[-1]
    field, before = change(own)
    path = f"{_POLICIES}[{policies.index(own)}].{field}"
    ref = ObjectRef(KIND, raw["metadata"]["name"], raw["metadata"].get("namespace", ""))
    return new, SetField(ref, path, to, None if before is None else str(before))


def _requests_only(trial: _Trial) -> Iterator[Remedy]:
    """Yield the remedy that leaves limits as the template has them, where limits by ratio are what refuses."""
    findings = trial.refusal(trial.raw)
    if not any(finding.resource.startswith("limits.") or "resources.limits" in finding.path or finding.rule ==
               "limitrange/max" for finding in findings):  # fmt: skip
        return
    container, _ = _largest(trial.raw, next((name for name in map(_resource, findings) if name in SCALED), "cpu"))

    def change(policy: _Raw) -> tuple[str, Any]:
        before, policy["controlledValues"] = policy.get("controlledValues"), "RequestsOnly"
        return "controlledValues", before

    raw, edit = _changed_policy(trial.raw, container, change, "RequestsOnly")
    if trial.helps(raw):
        text = f"set controlledValues RequestsOnly in {trial.ref}: limits stay as the template has them"
        yield _remedy(trial, text, (edit,), {"spec": {"resourcePolicy": raw["spec"]["resourcePolicy"]}})
