"""Tested edits after which evicted pods come back, or evictions end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.admission.request.new_pod import Policies, admit
from kubectl_kres.model.objects import ObjectRef, decode_object, to_wire
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.remedy import Admits, Edit, RaiseQuota, Remedy, SetField
from kubectl_kres.reports.common.system import RequestCap
from kubectl_kres.reports.remedies.commands import patch_command
from kubectl_kres.reports.remedies.compose import compose_remedy, edit_file
from kubectl_kres.reports.remedies.engine import RemedySearch, State, changed_policies
from kubectl_kres.reports.remedies.keepers import named_keeper, with_permanence
from kubectl_kres.store.store import Store
from kubectl_kres.vpa.model import KIND, WEBHOOK, VerticalPodAutoscaler, VpaResourcePolicy
from kubectl_kres.vpa.registration import is_registered
from kubectl_kres.vpa.reports.registered_webhook import autoscaler_of
from kubectl_kres.vpa.reports.updater_run import BAD, Eviction, UpdaterRun
from kubectl_kres.vpa.rules.autoscaler import EVERY_OTHER, SCALED, Autoscaler, parse_autoscaler
from kubectl_kres.vpa.rules.webhook import VpaWebhook

#: The step in which amounts are looked for: cpu in ten thousandths, memory in Mi.
_STEP = {"cpu": 10 * 10**6, "memory": 2**20 * 10**9}
_POLICIES = "spec.resourcePolicy.containerPolicies"

_Raw = dict[str, Any]


class _SpecField(NamedTuple):
    """One field of the spec. ``then``: what comes of it."""

    group: str
    field: str
    then: str


class _PolicyField(NamedTuple):
    """The policy of a container: the bound of a resource, or, without one, which values are controlled."""

    container: str
    resource: str = ""


class _AutoscalerSearch(RemedySearch[UpdaterRun | None]):
    """The world of one autoscaler, in which changes of it and of quotas are tried."""

    def __init__(
        self,
        store: Store,
        options: EvaluationOptions,
        vpa: VerticalPodAutoscaler,
        target: Subject,
        analysis: Analysis,
        eviction: Eviction,
    ) -> None:
        super().__init__(store, target)
        self.options, self.vpa, self.analysis, self.eviction = options, vpa, analysis, eviction
        self.ref = ObjectRef(KIND, vpa.metadata.name, vpa.metadata.namespace)
        self.raw: _Raw = to_wire(vpa)

    def evaluate(self, state: State) -> UpdaterRun | None:
        """Return a run of the updater; None: no server would store the autoscaler."""
        try:
            changed = parse_autoscaler(decode_object(self._change(state)[0], VerticalPodAutoscaler))
        except Unparsable:
            return None
        if changed is None:
            return None
        policies = changed_policies(_with_autoscaler(self.analysis.policies.policies, changed), state.values())
        outcomes = admit(self.analysis.manifest.pod, policies, self.analysis.server, journal=False)
        known = structs.replace(self.analysis.policies, policies=policies)
        analysis = structs.replace(self.analysis, policies=known, outcomes=outcomes)
        return UpdaterRun(self.store, self.options, changed, self.subject, analysis)

    def passes(self, trial: UpdaterRun | None) -> bool:
        """Return whether the next pod is admitted, and what is evicted comes back for good."""
        return trial is not None and not _find_refusal(trial) and trial.eviction().result not in BAD

    def states(self) -> Iterator[State]:
        """Yield what lets pods come, then what evicts none."""
        result = self.eviction.result
        if result == "too-few":
            field = _SpecField("updatePolicy", "minReplicas", "it evicts from so few pods then")
            yield {field: self.eviction.pods}
            return
        if result != "again":
            yield self._raises()
            yield self.walk({}, self._cap, self.passes)
            yield self._requests_only()
        if result in BAD:
            yield {_SpecField("updatePolicy", "updateMode", "nothing is evicted then"): "Initial"}

    def edits(self, state: State) -> Sequence[Edit]:
        """Return the quotas that are raised, or the fields of the autoscaler."""
        raised = [to for to in state.values() if isinstance(to, RaiseQuota)]
        return raised or self._change(state)[1]

    def compose(self, state: State, edits: Sequence[Edit]) -> Remedy:
        """Return the remedy, with a patch of the autoscaler where that is changed."""
        if isinstance(edits[0], RaiseQuota):
            pods = self.eviction.kept + self.eviction.recreated
            all_pods = pods + self.eviction.missing
            return compose_remedy(self.store, self.subject, edits, Admits(all_pods, all_pods), pods)
        (target, to), *_ = state.items()
        raw = self._change(state)[0]["spec"]
        patch = {"resourcePolicy": raw.get("resourcePolicy")}
        if isinstance(target, _SpecField):
            text = f"set {target.field} of {self.ref} to {to}: {target.then}"
            patch = {target.group: {target.field: to}}
        elif not target.resource:
            text = f"set controlledValues {to} in {self.ref}: limits stay as the template has them"
        else:
            bounds = (f"{edit.field.rpartition('.')[2]} to {edit.to}" for edit in edits if isinstance(edit, SetField))
            text = f"set {', '.join(bounds)} in {self.ref}"
        file = self.store.files.get(self.ref)
        kept = named_keeper(self.store, self.ref, self.vpa.metadata) if file is None else edit_file(file)
        command = patch_command(self.store.origin, self.ref, {"spec": patch}, "merge", "vpa")
        return Remedy(text, tuple(edits), () if kept else (command,), kept, proven=True)

    def findings(self, state: State) -> Sequence[Finding]:
        """Return what refuses the next pod, or one that is missing after an eviction."""
        run = self.trial(state)
        if run is None:
            return ()
        run.eviction()
        return _find_refusal(run) or run.refused

    def _raises(self) -> State:
        """Return quotas raised to what all pods need once they have come."""
        run, state = self.trial({}), dict[Any, RaiseQuota]()
        if run is None or not self.eviction.missing:
            return state
        run.eviction()
        for quota in run.policies.quotas:
            for name, amount in run.highest_usage(quota).items():
                if name in quota.hard and amount > quota.hard[name]:
                    field = f"{quota.hard_at}[{name}]"
                    edit = RaiseQuota(quota.source.ref, field, name, str(amount), str(quota.hard[name]))
                    state[edit.object, field] = edit
        return state

    def _cap(self, state: State, _trial: object) -> State | None:
        """Return the state with the largest bound of one more resource with which that no longer refuses: of less
        minAllowed where that is what refuses, else of maxAllowed.
        """
        name = next((name for name in map(_resource, self.findings(state)) if name in SCALED), "")
        container, target = _largest(self._change(state)[0], name)
        if not name or target is None:
            return None
        step = _STEP[name]

        def capped(count: int) -> State:
            bound = Quantity(count * step, "DecimalSI" if name == "cpu" else "BinarySI")
            return {**state, _PolicyField(container, name): str(bound)}

        low, high = 0, max(1, -(-target.nano // step))
        while high - low > 1:
            middle = (low + high) // 2
            passes = name not in map(_resource, self.findings(capped(middle)))
            low, high = (middle, high) if passes else (low, middle)
        return capped(low) if low else None

    def _requests_only(self) -> State:
        """Return that limits stay as the template has them, where limits by ratio are what refuses."""
        findings = self.findings({})
        if not any(
            finding.resource.startswith("limits.")
            or "resources.limits" in finding.path
            or finding.rule == "limitrange/max"
            for finding in findings
        ):
            return {}
        name = next((name for name in map(_resource, findings) if name in SCALED), "cpu")
        return {_PolicyField(_largest(self.raw, name)[0]): "RequestsOnly"}

    def _change(self, state: State) -> tuple[_Raw, list[SetField]]:
        """Return the changed autoscaler and its edits."""
        raw, edits = deepcopy(self.raw), []
        for target, to in state.items():
            if isinstance(target, _SpecField):
                group = raw["spec"].get(target.group) or {}
                path, before = f"spec.{target.group}.{target.field}", group.get(target.field)
                raw["spec"][target.group] = {**group, target.field: to}
            elif isinstance(target, _PolicyField):
                path, before = _change_policy(raw, target, to)
            else:
                continue
            edits.append(SetField(self.ref, path, str(to), None if before in (None, "") else str(before)))
        return raw, edits


def _find_refusal(run: UpdaterRun) -> tuple[Finding, ...]:
    """Return what refuses the next pod whatever room there is."""
    refusal = run.analysis.outcomes[0].refusal
    findings = () if refusal is None else refusal.findings
    return tuple(finding for finding in findings if not finding.rule.startswith("quota/"))


def _with_autoscaler(policies: Policies, changed: Autoscaler) -> Policies:
    webhooks = tuple(
        structs.replace(webhook, autoscalers={**webhook.autoscalers, changed.target: changed})
        if isinstance(webhook, VpaWebhook) and changed.target in webhook.autoscalers
        else webhook
        for webhook in policies.webhooks
    )
    return structs.replace(policies, webhooks=webhooks)


def eviction_remedies(
    store: Store,
    options: EvaluationOptions,
    vpa: VerticalPodAutoscaler,
    target: Subject,
    analysis: Analysis,
    eviction: Eviction,
) -> tuple[Remedy, ...]:
    """Return alternatives, each complete alone; those that let pods come before those that evict none."""
    search = _AutoscalerSearch(store, options, vpa, target, analysis, eviction)
    refused = any(outcome.refusal is not None for outcome in analysis.outcomes[:1])
    known = eviction.result in {*BAD, "too-few"}
    if not known and not (refused and search.findings({})):
        return ()
    fixes = (*(_registered(store) if eviction.result == "again" else ()), *search.remedies())
    return with_permanence(store, target, fixes)


def pod_remedies(store: Store, subject: Subject, analysis: Analysis) -> tuple[Remedy, ...]:
    """Return what to change of the autoscaler where its values are what refuses the next pod of a workload."""
    autoscaler = autoscaler_of(store, analysis)
    vpa = store.get(KIND, autoscaler.source.name, subject.ref.namespace) if autoscaler is not None else None
    if not isinstance(vpa, VerticalPodAutoscaler):
        return ()
    bare = structs.replace(analysis.policies.policies, webhooks=())
    if not any(outcome.allowed for outcome in admit(analysis.manifest.pod, bare, analysis.server, journal=False)):
        return ()
    options = EvaluationOptions(analysis.server)
    return eviction_remedies(store, options, vpa, subject, analysis, Eviction("no-pods"))


def _registered(store: Store) -> Iterator[Remedy]:
    if is_registered(store) is False:
        yield Remedy(f"register the webhook {WEBHOOK} again: its admission controller does so as it starts")


def _resource(finding: Finding) -> str:
    return finding.resource.removeprefix("requests.").removeprefix("limits.")


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
    matching = [policy for policy in _policies_in(raw) if policy.get("containerName") == container]
    rest = [policy for policy in _policies_in(raw) if policy.get("containerName") == EVERY_OTHER]
    return matching[0] if matching else rest[-1] if rest else None


def _change_policy(raw: _Raw, target: _PolicyField, to: str) -> tuple[str, Any]:
    """Change the policy of a container in place, or add one; return the field's path and what stood there.

    A bound is maxAllowed, with minAllowed no higher; minAllowed where that is higher.
    """
    group = raw["spec"]["resourcePolicy"] = dict(raw["spec"].get("resourcePolicy") or {})
    policies = group["containerPolicies"] = list(group.get("containerPolicies") or ())
    policy, name = _policy(raw, target.container), target.resource
    if policy is None:
        policies.append(policy := {"containerName": target.container})
    path = f"{_POLICIES}[{policies.index(policy)}]"
    if not name:
        before, policy["controlledValues"] = policy.get("controlledValues"), to
        return f"{path}.controlledValues", before
    least, most = ((policy.get(bound) or {}).get(name) for bound in ("minAllowed", "maxAllowed"))
    lower = least is not None and parse(str(least)) > parse(to)
    if lower:
        policy["minAllowed"] = {**policy["minAllowed"], name: to}
    if not lower or (most is not None and parse(str(most)) < parse(to)):
        policy["maxAllowed"] = {**(policy.get("maxAllowed") or {}), name: to}
    return f"{path}.{'minAllowed' if lower else 'maxAllowed'}[{name}]", least if lower else most


def cap_request(store: Store, vpa: VerticalPodAutoscaler, container: str, resource: str, amount: str) -> RequestCap:
    """Return the bound with which an autoscaler writes no more than an amount into new pods."""
    policies = list(to_wire(vpa.spec.resource_policy or VpaResourcePolicy()).get("containerPolicies") or ())
    names = [policy.get("containerName") for policy in policies]
    if container in names:
        own = policies[names.index(container)]
    else:
        # A policy of its own hides the one for all others, whose fields stay.
        own = {
            **next((policy for policy in policies if policy.get("containerName") == "*"), {}),
            "containerName": container,
        }
        policies.append(own)
    index = policies.index(own)
    policies[index] = {**own, "maxAllowed": {**(own.get("maxAllowed") or {}), resource: amount}}
    ref = ObjectRef(KIND, vpa.metadata.name, vpa.metadata.namespace)
    patch = {"spec": {"resourcePolicy": {"containerPolicies": policies}}}
    command = patch_command(store.origin, ref, patch, "merge", "vpa")
    kept = named_keeper(store, ref, vpa.metadata)
    text = f"set maxAllowed.{resource} of container {container} to {amount} in {ref}, which sets its request"
    return RequestCap(text, () if kept else (command,))
