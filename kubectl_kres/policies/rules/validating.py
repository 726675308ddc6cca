"""ValidatingAdmissionPolicy: every set of denials that a request can meet. Source: apiserver policy/validating."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from kubectl_kres.admission.base.outcome import Finding, Refusal, StatusCause
from kubectl_kres.admission.base.server import Server
from kubectl_kres.go_text import as_json
from kubectl_kres.policies.cel.base.values import NotComputed
from kubectl_kres.policies.cel.libraries.strings import trim
from kubectl_kres.policies.rules import expressions
from kubectl_kres.policies.rules.objects import convert_version
from kubectl_kres.policies.rules.policy import BoundPolicy, ConfigurationError, Policy, RequestContext, name_of
from kubectl_kres.policies.rules.request import Request, Review, match_request
from kubectl_kres.provenance.journal import Source

Raw = Mapping[str, Any]
_CODES = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413, "Invalid": 422}
_MOST_MESSAGE = 5 * 1024
_MOST_ANNOTATION = 10 * 1024
_MOST_FAILURES = 50
RULE = "policy/denied"


class FailedValidation(Struct, frozen=True):
    """A validation that did not hold. ``index``: which one; ``error``: it could not be evaluated."""

    message: str
    reason: str = ""
    index: int = 0
    expression: str = ""
    error: bool = False


class Denial(Struct, frozen=True):
    """A decision with the policy and the binding; without one the policy itself cannot be used."""

    policy: str
    binding: str | None
    decision: FailedValidation


def review(request: Request, policies: Sequence[BoundPolicy], context: RequestContext) -> Review:
    """Return what the policies say. The server tells the first denial, and its order is arbitrary: each is a refusal
    here.
    """
    denials: list[list[Denial]] = []
    warnings: list[str] = []
    audit: dict[str, str] = {}
    unknown: list[str] = []
    failures: list[Raw] = []
    for policy in policies:
        dispatch = _Dispatch(policy.policy, request, context)
        try:
            dispatch.run(policy.bindings)
        except NotComputed as gap:
            dispatch.unknown.append(str(gap))
        reasons = dict.fromkeys(dispatch.unknown)
        unknown.extend(
            f"ValidatingAdmissionPolicy {policy.policy.name} is not computed: {reason}" for reason in reasons
        )
        denials.extend(dispatch.denials)
        warnings.extend(dispatch.warnings)
        audit |= dispatch.audit
        failures += dispatch.failures
    refusals = tuple(_refusal(request, group[0]) for group in denials)
    return Review(refusals, tuple(warnings), audit | _audit_annotations(failures, context.server), tuple(unknown))


def _refusal(request: Request, denial: Denial) -> Refusal:
    binding = "" if denial.binding is None else f" with binding '{denial.binding}'"
    text = f"ValidatingAdmissionPolicy '{denial.policy}'{binding} denied request: {denial.decision.message}"
    reason = denial.decision.reason or "Invalid"
    field = f"spec.validations[{denial.decision.index}]" if denial.decision.expression else "spec"
    source = Source("ValidatingAdmissionPolicy", denial.policy, field=field)
    rule = "policy/error" if denial.decision.error or not denial.decision.expression else RULE
    finding = Finding(text, rule, observed=denial.decision.expression, source=source)
    message = f'{request.qualified_name} "{request.name}" is forbidden: {text}'
    return Refusal(_CODES.get(reason, 422), reason, message, (finding,), (StatusCause("", "", text),))


class _Dispatch:
    """One policy with one request. ``denials``: for each binding and parameter those that it can answer first with."""

    def __init__(self, policy: Policy, request: Request, context: RequestContext) -> None:
        self.policy, self.request, self.context = policy, request, context
        self.denials: list[list[Denial]] = []
        self.warnings: list[str] = []
        self.annotations: dict[str, list[str]] = {}
        self.audit: dict[str, str] = {}
        self.failures: list[dict[str, Any]] = []
        #: Why some of it is not known; what other bindings say stands nevertheless.
        self.unknown: list[str] = []

    def run(self, bindings: Sequence[Raw]) -> None:
        """Raises NotComputed."""
        request_seen = self.policy.matched(self.request, self.context.namespace)
        if request_seen is None:
            return
        if not self.policy.is_kind_served(self.request, self.context):
            text = f"failed to configure policy: {self.policy.unknown_kind()}"
            if self.policy.fails:
                self.denials.append([Denial(self.policy.name, None, FailedValidation(text))])
            return
        for binding in bindings:
            resources = (binding.get("spec") or {}).get("matchResources")
            if match_request(resources, self.request, self.context.namespace) is None:
                continue
            try:
                self._evaluate_binding(binding, _convert_request(request_seen, self.request))
            except NotComputed as gap:
                self.unknown.append(str(gap))
        for key, values in self.annotations.items():
            self.audit[f"{self.policy.name}/{key}"] = ", ".join(values)

    def _evaluate_binding(self, binding: Raw, request_seen: Request) -> None:
        name = name_of(binding)
        try:
            params = self.policy.params(binding, self.request, self.context)
        except ConfigurationError as error:
            if self.policy.fails:
                decision = FailedValidation(f"failed to configure binding: {error}")
                self.denials.append([Denial(self.policy.name, name, decision)])
            return
        for param in params:
            denied = [
                Denial(self.policy.name, name, decision)
                for decision in self._list_denials(param, binding, request_seen)
            ]
            if denied:
                self.denials.append(denied)

    def _list_denials(self, params: Raw | None, binding: Raw, request_seen: Request) -> Iterator[FailedValidation]:
        """Yield the decisions that deny, in order."""
        decisions, annotations = evaluate_policy(self.policy, self.request, request_seen, params, self.context)
        actions = (binding.get("spec") or {}).get("validationActions") or ()
        for decision in decisions:
            for action in actions:
                if action == "Deny":
                    yield decision
                elif action == "Warn":
                    prefix = f"Validation failed for ValidatingAdmissionPolicy '{self.policy.name}'"
                    self.warnings.append(f"{prefix} with binding '{name_of(binding)}': {decision.message}")
                elif action == "Audit":
                    self._record(decision, binding, actions)
        for key, result in annotations:
            if result.error and self.policy.fails:
                yield FailedValidation(result.error, error=True)
            elif isinstance(result.value, str) and trim(result.value):
                values = self.annotations.setdefault(key, [])
                value = trim(result.value)[:_MOST_ANNOTATION]
                if value not in values:
                    values.append(value)

    def _record(self, decision: FailedValidation, binding: Raw, actions: Sequence[str]) -> None:
        failure = {
            "message": decision.message, "policy": (binding.get("spec") or {}).get("policyName", ""),
            "binding": name_of(binding), "expressionIndex": decision.index, "validationActions": list(actions),
        }  # fmt: skip
        self.failures.append(failure)


def _audit_annotations(failures: Sequence[Raw], server: Server) -> dict[str, str]:
    """Return the annotation of what failed: up to 1.36 the first failure alone, since then up to 50."""
    if not failures:
        return {}
    texts = failures[:_MOST_FAILURES] if server.has_change("policy/every-audit-failure") else failures[:1]
    return {"validation.policy.admission.k8s.io/validation_failure": as_json(list(texts))}


def _convert_request(request_seen: Request, original: Request) -> Request:
    """Return the request with its objects in the version that the policy matched."""
    if request_seen.api_version == original.api_version:
        return request_seen
    objects = [
        None if mapping is None else convert_version(mapping, request_seen.api_version)
        for mapping in (request_seen.object, request_seen.old)
    ]
    return structs.replace(request_seen, object=objects[0], old=objects[1])


Annotations = list[tuple[str, expressions.Result]]


def evaluate_policy(
    policy: Policy, original: Request, request_seen: Request, params: Raw | None, context: RequestContext
) -> tuple[list[FailedValidation], Annotations]:
    """Return what one policy with one parameter decides: validations that fail, and audit annotations. Raises
    NotComputed.
    """
    try:
        if not policy.holds(request_seen, original, params, context):
            return [], []
    except ConfigurationError as error:
        return [FailedValidation(str(error), error=True)] if policy.fails else [], []
    has_params = policy.param_kind is not None
    names = expressions.names_of(
        request_seen, original, context.namespace, params, context.server, has_params=has_params
    )
    validations = policy.spec.get("validations") or ()
    evaluation = expressions.Evaluation(names, policy.variables, maximum=context.most)
    try:
        results = [
            evaluation.run(policy.expression(_text(validation, "expression"), expressions.BOOLEAN))
            for validation in validations
        ]
    except expressions.OutOfBudget as error:
        return [FailedValidation(str(error), error=True)] if policy.fails else [], []
    messages = _Messages(policy, names, evaluation.budget, context)
    decisions = []
    for index, (validation, result) in enumerate(zip(validations, results, strict=True)):
        decision = _decision(policy, validation, result, index, messages)
        if decision is not None:
            decisions.append(decision)
    return decisions, _annotations(policy, names, context)


def _text(raw: Raw, key: str) -> str:
    return str(raw.get(key) or "")


class _Messages:
    """The messages that expressions give, only made for validations that fail."""

    def __init__(self, policy: Policy, names: Mapping[str, Any], budget: int, context: RequestContext) -> None:
        self.policy, self.names, self.budget, self.most = policy, names, budget, context.most
        self._evaluation: expressions.Evaluation | None = None

    def failure_message(self, validation: Raw) -> str:
        text = _text(validation, "messageExpression")
        if not text:
            return ""
        if self._evaluation is None:
            self._evaluation = expressions.Evaluation(
                self.names, self.policy.variables, budget=self.budget, maximum=self.most
            )
        result = self._evaluation.run(self.policy.expression(text, expressions.TEXT, authorizer=False))
        message = trim(result.value) if isinstance(result.value, str) else ""
        return "" if len(message.encode()) > _MOST_MESSAGE or "\n" in message else message


def _decision(
    policy: Policy, validation: Raw, result: expressions.Result, index: int, messages: _Messages
) -> FailedValidation | None:
    if result.value is True:
        return None
    expression = trim(_text(validation, "expression"))
    if result.error:
        return FailedValidation(result.error, "", index, expression, error=True) if policy.fails else None
    try:
        message = messages.failure_message(validation)
    except expressions.OutOfBudget as error:
        return FailedValidation(f"failed messageExpression: {error}", "", index, expression, error=True)
    message = message or trim(_text(validation, "message")) or f"failed expression: {expression}"
    return FailedValidation(message, _text(validation, "reason") or "Invalid", index, expression)


def _annotations(policy: Policy, names: Mapping[str, Any], context: RequestContext) -> Annotations:
    pairs: Annotations = []
    asked = policy.spec.get("auditAnnotations")
    if not asked:
        return pairs
    evaluation = expressions.Evaluation(names, policy.variables, maximum=context.most)
    for audit_annotation in asked:
        expression: expressions.Expression = policy.expression(
            _text(audit_annotation, "valueExpression"), expressions.TEXT_OR_NULL
        )
        try:
            pairs.append((_text(audit_annotation, "key"), evaluation.run(expression)))
        except expressions.OutOfBudget as error:
            pairs.append((_text(audit_annotation, "key"), expressions.Result(error=str(error))))
    return pairs
