"""Validation of policies and bindings themselves when they are created.

Source: kubernetes pkg/apis/admissionregistration/validation/validation.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.base.field_errors import FieldError, duplicate, forbidden, invalid, not_supported, required
from kubectl_kres.admission.base.resource_names import qualified_faults, subdomain_faults
from kubectl_kres.admission.base.server import Server
from kubectl_kres.go_text import quote
from kubectl_kres.policies.cel.base.types import Type
from kubectl_kres.policies.cel.libraries.strings import trim
from kubectl_kres.policies.cel.syntax.parse import RESERVED
from kubectl_kres.policies.rules import expressions

Raw = Mapping[str, Any]
RULE = "policy/invalid"
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_MUTATING = ("*", "CONNECT", "CREATE", "UPDATE")
_MOST_CONDITIONS, _MOST_ANNOTATIONS, _MOST_VALUE = 64, 20, 5 * 1024
#: How many minor versions back a server can emulate.
_EMULATED = 3
_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")


def errors_of(raw: Raw, minor: int, server: Server | None = None) -> list[FieldError]:
    """Return every fault of a policy or a binding. ``minor``: of the server; what is new in it may not be used yet.

    ``server``: the one whose words are wanted; None: of the newest version.
    """
    kind = str(raw.get("kind", ""))
    spec: Raw = _without_null_items(raw.get("spec") or {})
    name = str((raw.get("metadata") or {}).get("name", ""))
    if kind.endswith("Binding"):
        return list(_binding(spec, server or Server(), mutating=kind.startswith("Mutating")))
    # A server that emulates an older version still takes what the oldest one that it can emulate reads.
    oldest = server.binary[1] - _EMULATED if server is not None and server.binary is not None else 0
    return list(_Policy(spec, name, (1, max(minor - 1, oldest)), mutating=kind.startswith("Mutating")).errors())


#: Lists of texts; any other list is one of objects.
_TEXTS = frozenset({
    *("apiGroups", "apiVersions", "operations", "resources", "resourceNames"), "validationActions", "values",
})  # fmt: skip


def _without_null_items(value: Any, key: str = "") -> Any:
    """Return a value whose lists hold empty values in the place of nulls, as Go's decoder makes them."""
    if isinstance(value, Mapping):
        return {name: _without_null_items(inner, name) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        blank: Any = "" if key in _TEXTS else {}
        return [blank if item is None else _without_null_items(item) for item in value]
    return value


class _Policy:
    def __init__(self, spec: Raw, name: str, version: tuple[int, int], *, mutating: bool) -> None:
        self.spec, self.name, self.version, self.mutating = spec, name, version, mutating
        self.params = spec.get("paramKind") is not None
        self.fields: dict[str, Type] = {}
        self.composed = mutating or bool(spec.get("variables"))

    def errors(self) -> Iterator[FieldError]:
        spec = self.spec
        policy = spec.get("failurePolicy", "Fail")
        if policy not in ("Fail", "Ignore"):
            yield not_supported("spec.failurePolicy", str(policy), ("Fail", "Ignore"), RULE)
        if self.params:
            yield from _param_kind(spec["paramKind"], "spec.paramKind")
        yield from self._constraints()
        yield from self._conditions()
        yield from self._variables()
        yield from self._mutations() if self.mutating else self._validations()

    def _constraints(self) -> Iterator[FieldError]:
        constraints, path = self.spec.get("matchConstraints"), "spec.matchConstraints"
        if constraints is None:
            yield required(path, rule=RULE)
            return
        yield from _resources(constraints, path)
        if not constraints.get("resourceRules"):
            yield required(f"{path}.resourceRules", rule=RULE)
        if self.mutating:
            yield from _mutating_operations(constraints, path)

    def _compile_field(
        self,
        text: str,
        path: str,
        wanted: Sequence[Type],
        *,
        shown: str | None = None,
        composed: bool = True,
        **accepts: Any,
    ) -> expressions.Expression | FieldError:
        composed = composed and self.composed
        allowed = expressions.Accepts(self.params, variables=composed, **accepts)
        fields = dict(self.fields) if composed else {}
        expression = expressions.Expression(text, allowed, self.version, wanted, fields)
        if expression.internal:
            return FieldError(path, "InternalError", f"Internal error: {expression.fault}", RULE)
        if expression.fault:
            written = quote(text if shown is None else shown)
            return FieldError(path, "FieldValueInvalid", f"Invalid value: {written}: {expression.fault}", RULE)
        return expression

    def _fault(self, text: str, path: str, wanted: Sequence[Type], **more: Any) -> Iterator[FieldError]:
        result = self._compile_field(text, path, wanted, **more)
        if isinstance(result, FieldError):
            yield result

    def _conditions(self) -> Iterator[FieldError]:
        conditions = self.spec.get("matchConditions") or ()
        if len(conditions) > _MOST_CONDITIONS:
            text = f"Too many: {len(conditions)}: must have at most {_MOST_CONDITIONS} items"
            yield FieldError("spec.matchConditions", "FieldValueTooMany", text, RULE)
        names: set[str] = set()
        for index, condition in enumerate(conditions):
            path = f"spec.matchConditions[{index}]"
            text = trim(str(condition.get("expression") or ""))
            if not text:
                yield required(f"{path}.expression", rule=RULE)
            else:
                yield from self._fault(text, f"{path}.expression", expressions.BOOLEAN, composed=False)
            name = str(condition.get("name") or "")
            if not name:
                yield required(f"{path}.name", rule=RULE)
                continue
            for fault in qualified_faults(name):
                yield invalid(f"{path}.name", name, fault, RULE)
            if name in names:
                yield duplicate(f"{path}.name", name, RULE)
            names.add(name)

    def _variables(self) -> Iterator[FieldError]:
        for index, variable in enumerate(self.spec.get("variables") or ()):
            path = f"spec.variables[{index}]"
            name, text = str(variable.get("name") or ""), str(variable.get("expression") or "")
            if not name.strip():
                yield required(f"{path}.name", "name is not specified", RULE)
            elif not _IDENTIFIER.fullmatch(name) or name in RESERVED:
                yield invalid(f"{path}.name", name, "must be a valid CEL identifier", RULE)
            if not text.strip():
                yield required(f"{path}.expression", "expression is not specified", RULE)
                continue
            result = self._compile_field(text, f"{path}.expression", ())
            if isinstance(result, FieldError):
                yield result
                self.fields[name] = expressions.declared_type(None)
            else:
                self.fields[name] = expressions.declared_type(result.kind)

    def _validations(self) -> Iterator[FieldError]:
        validations, annotations = self.spec.get("validations") or (), self.spec.get("auditAnnotations") or ()
        if not validations and not annotations:
            text = "validations or auditAnnotations must contain at least one item"
            yield required("spec.validations", text, RULE)
            yield required("spec.auditAnnotations", text, RULE)
            return
        for index, validation in enumerate(validations):
            yield from self._validation(validation, f"spec.validations[{index}]")
        keys: set[str] = set()
        if len(annotations) > _MOST_ANNOTATIONS:
            text = f"must not have more than {_MOST_ANNOTATIONS} auditAnnotations"
            yield invalid("spec.auditAnnotations", list(annotations), text, RULE)
        for index, annotation in enumerate(annotations):
            path = f"spec.auditAnnotations[{index}]"
            yield from self._annotation(annotation, path)
            key = str(annotation.get("key") or "")
            if key in keys:
                yield duplicate(f"{path}.key", key, RULE)
            keys.add(key)

    def _validation(self, validation: Raw, path: str) -> Iterator[FieldError]:
        text = str(validation.get("expression") or "")
        if not trim(text):
            yield required(f"{path}.expression", "expression is not specified", RULE)
        else:
            yield from self._fault(text, f"{path}.expression", expressions.BOOLEAN)
        message = str(validation.get("messageExpression") or "")
        if message and not trim(message):
            yield invalid(f"{path}.messageExpression", message, "must be non-empty if specified", RULE)
        elif message:
            yield from self._fault(message, f"{path}.messageExpression", expressions.TEXT, authorizer=False)
        plain = str(validation.get("message") or "")
        if plain and not trim(plain):
            yield invalid(f"{path}.message", plain, "must be non-empty if specified", RULE)
        elif "\n" in trim(plain) or "\r" in trim(plain):
            yield invalid(f"{path}.message", plain, "must not contain line breaks", RULE)
        reason = validation.get("reason")
        if reason is not None and reason not in _REASONS:
            yield not_supported(f"{path}.reason", str(reason), _REASONS, RULE)

    def _annotation(self, annotation: Raw, path: str) -> Iterator[FieldError]:
        key, value = str(annotation.get("key") or ""), str(annotation.get("valueExpression") or "")
        if not self.name:
            yield invalid(f"{path}.key", key, "requires metadata.name be non-empty", RULE)
        else:
            for fault in qualified_faults(f"{self.name}/{key}"):
                yield invalid(f"{path}.key", f"{self.name}/{key}", fault, RULE)
        text = trim(value)
        if not text:
            yield required(f"{path}.valueExpression", "valueExpression is not specified", RULE)
        elif len(text) > _MOST_VALUE:
            yield required(f"{path}.valueExpression", f"must not exceed {_MOST_VALUE} bytes in length", RULE)
        else:
            yield from self._fault(text, f"{path}.valueExpression", expressions.TEXT_OR_NULL, shown=value)

    def _mutations(self) -> Iterator[FieldError]:
        mutations = self.spec.get("mutations") or ()
        if not mutations:
            yield required("spec.mutations", "mutations must contain at least one item", RULE)
        for index, mutation in enumerate(mutations):
            yield from self._mutation(mutation, f"spec.mutations[{index}]")
        policy = self.spec.get("reinvocationPolicy")
        if not policy:
            yield required("spec.reinvocationPolicy", rule=RULE)
        elif policy not in ("IfNeeded", "Never"):
            yield not_supported("spec.reinvocationPolicy", str(policy), ("IfNeeded", "Never"), RULE)

    def _mutation(self, mutation: Raw, path: str) -> Iterator[FieldError]:
        kind = mutation.get("patchType")
        fields = {"JSONPatch": "jsonPatch", "ApplyConfiguration": "applyConfiguration"}
        if not kind:
            yield required(f"{path}.patchType", rule=RULE)
            return
        if kind not in fields:
            yield not_supported(f"{path}.patchType", str(kind), tuple(sorted(fields)), RULE)
            return
        own_kind = fields.pop(kind)
        other = next(iter(fields.values()))
        part = mutation.get(own_kind)
        if part is None:
            yield required(f"{path}.{own_kind}", f"must be specified when patchType is {kind}", RULE)
        else:
            text = trim(str(part.get("expression") or ""))
            if not text:
                yield required(f"{path}.{own_kind}.expression", rule=RULE)
            else:
                wanted = expressions.PATCHES if own_kind == "jsonPatch" else expressions.OBJECT
                yield from self._fault(text, f"{path}.{own_kind}.expression", wanted, patch=True)
        if mutation.get(other) is not None:
            text = f"must not be specified when patchType is {kind}"
            yield invalid(f"{path}.{other}", f"{{{other}}}", text, RULE)


def _mutating_operations(resources: Raw, path: str) -> Iterator[FieldError]:
    for rule in resources.get("resourceRules") or ():
        for operation in rule.get("operations") or ():
            if operation not in _MUTATING:
                yield not_supported(f"{path}.resourceRules.operations", str(operation), _MUTATING, RULE)


def _param_kind(kind: Raw, path: str) -> Iterator[FieldError]:
    version, name = str(kind.get("apiVersion") or ""), str(kind.get("kind") or "")
    if not version:
        yield required(f"{path}.apiVersion", rule=RULE)
    elif version.count("/") > 1:
        yield invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}", RULE)
    if not name:
        yield required(f"{path}.kind", rule=RULE)


def _resources(resources: Raw, path: str) -> Iterator[FieldError]:
    policy = resources.get("matchPolicy", "Equivalent")
    if policy not in ("Equivalent", "Exact"):
        yield not_supported(f"{path}.matchPolicy", str(policy), ("Equivalent", "Exact"), RULE)
    for key in ("namespaceSelector", "objectSelector"):
        yield from _selector(resources.get(key) or {}, f"{path}.{key}")
    for key in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(resources.get(key) or ()):
            yield from _rule(rule, f"{path}.{key}[{index}]")


def _selector(selector: Raw, path: str) -> Iterator[FieldError]:
    for index, match_expression in enumerate(selector.get("matchExpressions") or ()):
        item_path, operator, values = (
            f"{path}.matchExpressions[{index}]",
            match_expression.get("operator"),
            match_expression.get("values") or (),
        )
        if operator in ("In", "NotIn"):
            if not values:
                yield required(f"{item_path}.values", "must be specified when `operator` is 'In' or 'NotIn'", RULE)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                yield forbidden(f"{item_path}.values", text, RULE)
        else:
            yield invalid(f"{item_path}.operator", operator, "not a valid selector operator", RULE)


def _rule(rule: Raw, path: str) -> Iterator[FieldError]:
    operations = rule.get("operations") or ()
    if not operations:
        yield required(f"{path}.operations", rule=RULE)
    if len(operations) > 1 and "*" in operations:
        yield invalid(
            f"{path}.operations", list(operations), "if '*' is present, must not specify other operations", RULE
        )
    for index, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            yield not_supported(f"{path}.operations[{index}]", str(operation), _OPERATIONS, RULE)
    yield from _list_errors(rule.get("apiGroups") or (), f"{path}.apiGroups", "API groups")
    yield from _list_errors(rule.get("apiVersions") or (), f"{path}.apiVersions", "API versions")
    for index, version in enumerate(rule.get("apiVersions") or ()):
        if not version:
            yield required(f"{path}.apiVersions[{index}]", rule=RULE)
    yield from _resource_names(rule.get("resources") or (), f"{path}.resources")
    scope = rule.get("scope")
    if scope is not None and scope not in ("*", "Cluster", "Namespaced"):
        yield not_supported(f"{path}.scope", str(scope), ("*", "Cluster", "Namespaced"), RULE)


def _list_errors(values: Sequence[str], path: str, word: str) -> Iterator[FieldError]:
    if not values:
        yield required(path, rule=RULE)
    if len(values) > 1 and "*" in values:
        yield invalid(path, list(values), f"if '*' is present, must not specify other {word}", RULE)


def _resource_names(resources: Sequence[str], path: str) -> Iterator[FieldError]:
    if not resources:
        yield required(path, rule=RULE)
    yield from _subresources(resources, path)
    if len(resources) > 1 and "*/*" in resources:
        yield invalid(path, list(resources), "if '*/*' is present, must not specify other resources", RULE)
    plain = [resource != "*" for resource in resources if resource and "/" not in resource]
    if "*" in resources and plain[-1]:
        text = "if '*' is present, must not specify other resources without subresources"
        yield invalid(path, list(resources), text, RULE)


def _subresources(resources: Sequence[str], path: str) -> Iterator[FieldError]:
    all_subs: set[str] = set()
    all_resources: set[str] = set()
    for index, resource in enumerate(resources):
        name, slash, sub = resource.partition("/")
        if not resource:
            yield required(f"{path}[{index}]", rule=RULE)
            continue
        if not slash:
            continue
        if name in all_subs:
            text = f"if '{name}/*' is present, must not specify {resource}"
            yield invalid(f"{path}[{index}]", resource, text, RULE)
        if sub in all_resources:
            text = f"if '*/{sub}' is present, must not specify {resource}"
            yield invalid(f"{path}[{index}]", resource, text, RULE)
        if sub == "*":
            all_subs.add(name)
        if name == "*":
            all_resources.add(sub)


def _binding(spec: Raw, server: Server, *, mutating: bool) -> Iterator[FieldError]:
    name = str(spec.get("policyName") or "")
    if not name:
        yield required("spec.policyName", rule=RULE)
    else:
        for fault in subdomain_faults(name):
            yield invalid("spec.policyName", name, fault, RULE)
    yield from _param_ref(spec.get("paramRef"), "spec.paramRef")
    resources = spec.get("matchResources")
    if resources is not None:
        yield from _resources(resources, "spec.matchResources")
        if mutating:
            yield from _mutating_operations(resources, "spec.matchResources")
    if not mutating:
        yield from _actions(spec.get("validationActions") or (), "spec.validationActions", server)


def _param_ref(reference: Raw | None, path: str) -> Iterator[FieldError]:
    if reference is None:
        return
    name, selector = str(reference.get("name") or ""), reference.get("selector")
    if name and selector is not None:
        yield forbidden(f"{path}.name", "name and selector are mutually exclusive", RULE)
    if selector is not None:
        yield from _selector(selector, f"{path}.selector")
        if name:
            yield forbidden(f"{path}.selector", "name and selector are mutually exclusive", RULE)
    if not name and selector is None:
        yield required(path, "one of name or selector must be specified", RULE)
    action = reference.get("parameterNotFoundAction")
    if not action:
        yield required(f"{path}.parameterNotFoundAction", rule=RULE)
    elif action not in ("Allow", "Deny"):
        yield not_supported(f"{path}.parameterNotFoundAction", str(action), ("Deny", "Allow"), RULE, in_order=True)


def _actions(actions: Sequence[str], path: str, server: Server) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, action in enumerate(actions):
        if action not in ("Audit", "Deny", "Warn"):
            yield not_supported(f"{path}[{index}]", str(action), ("Audit", "Deny", "Warn"), RULE)
        if action in seen:
            yield duplicate(f"{path}[{index}]", str(action), RULE)
        seen.add(action)
    if {"Deny", "Warn"} <= seen:
        text = (
            "must not contain both Deny and Warn (repeating the same validation failure information in the API "
            "response and headers serves no purpose)"
        )
        yield invalid(path, list(actions), text, RULE)
    if not seen:
        text = "" if server.has_change("policy/actions-required") else "at least one validation action is required"
        yield required(path, text, RULE)
