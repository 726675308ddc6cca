"""Expressions of admission policies: what they may name, what their names hold, and the budget that they share.

No other module of this package compiles CEL. A server of 1.37 or newer hands expressions Go's structs, maps and lists
where it has them; objects of kinds that a CustomResourceDefinition brings are plain maps there, too.

Source: apiserver admission/plugin/cel; pkg/admission/conversion.go, pkg/admission/plugin/cel/activation.go.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from msgspec import Struct

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.decoding import table
from kubectl_kres.policies.cel.base import values
from kubectl_kres.policies.cel.base.types import BOOL, DYN, NULL, STRING, Type, list_type, parse_type
from kubectl_kres.policies.cel.base.values import GoStruct, TypedList, TypedMap, TypedStruct
from kubectl_kres.policies.cel.evaluation.environment import Environment
from kubectl_kres.policies.cel.evaluation.evaluate import CompiledExpression, compile_expression
from kubectl_kres.policies.cel.libraries.kubernetes import authorizer_of, request_check_of
from kubectl_kres.policies.rules.request import SCALE, Request

#: Groups with ``k8s.io`` in their name whose kinds come from a CustomResourceDefinition.
_CUSTOM = frozenset({
    "autoscaling.k8s.io", "gateway.networking.k8s.io", "snapshot.storage.k8s.io", "groupsnapshot.storage.k8s.io",
    "policy.networking.k8s.io", "x-k8s.io",
})  # fmt: skip
_REQUEST: Mapping[str, Mapping[str, str]] = {
    "AdmissionRequest": {
        "kind": "GroupVersionKind", "resource": "GroupVersionResource", "requestKind": "GroupVersionKind",
        "requestResource": "GroupVersionResource", "userInfo": "UserInfo",
    },
}  # fmt: skip
#: Fields that have a decoder of their own and no type: what they hold is plain.
_PLAIN = frozenset(
    {("ManagedFieldsEntry", "fieldsV1"), ("ControllerRevision", "data"), ("AdmissionRequest", "options")}
)
_QUANTITY_FIELDS = frozenset({"sizeLimit", "divisor", "quantity", "perPod", "perContainer"})
_METADATA = {"metadata": "ObjectMeta"}


def is_typed(api_version: str) -> bool:
    """Return whether the server has Go types for the kinds of a group."""
    group = api_version.rpartition("/")[0]
    return "." not in group or (group.endswith(".k8s.io") and group not in _CUSTOM)


def typed_object(raw: Raw | None) -> Any:
    """Return the object typed; None for none, and as it is where the server has no type for it."""
    if raw is None or not is_typed(str(raw.get("apiVersion", "v1"))):
        return raw
    known = _KEPT.get(id(raw))
    if known is None or known[0] is not raw:
        if len(_KEPT) >= _MOST_KEPT:
            _KEPT.clear()
        known = _KEPT[id(raw)] = raw, typed_as(raw, str(raw.get("kind", "")))
    return known[1]


#: What was typed last: one object is asked about by one expression after the other.
_KEPT: dict[int, tuple[Raw, Any]] = {}
_MOST_KEPT = 8


def typed_as(value: Any, kind: str) -> Any:
    """Return a struct of that type, of which nothing but the metadata is known where it is in no table."""
    if not isinstance(value, dict):
        return value
    fields = _fields(kind)
    struct = {key: _typed(item, kind, key, fields.get(key, "")) for key, item in value.items()}
    return TypedStruct(_go_type(kind), struct)


def _typed(value: Any, kind: str, field: str, inner: str) -> Any:
    if type(value) is str or value is None:
        return value
    if isinstance(value, list | tuple):
        name = inner.removeprefix("[]")
        return TypedList([typed_as(item, name) for item in value] if name else map(_as_untyped, value))
    if not isinstance(value, dict):
        return value
    if inner:
        return typed_as(value, inner)
    return value if (kind, field) in _PLAIN else _as_untyped(value)


def _as_untyped(value: Any) -> Any:
    """Return what stands where no struct is known: a map, or a list of such."""
    if isinstance(value, dict):
        return TypedMap((key, _as_untyped(item)) for key, item in value.items())
    return TypedList(map(_as_untyped, value)) if isinstance(value, list | tuple) else value


def _fields(kind: str) -> Mapping[str, str]:
    return table().types.get(kind) or _REQUEST.get(kind) or _METADATA


@functools.cache
def _go_type(kind: str) -> GoStruct:
    leaves = table().leaves.get(kind, {})
    named = {field for field, leaf in leaves.items() if leaf == "map:v1.ResourceList"}
    return GoStruct(kind, frozenset(named | (_QUANTITY_FIELDS & _fields(kind).keys() - leaves.keys())))


Raw = Mapping[str, Any]
OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"
_CONDITIONS_BUDGET = values.PER_POLICY // 4

_KIND = {"group": "string", "version": "string", "kind": "string"}
_RESOURCE = {"group": "string", "version": "string", "resource": "string"}
_STRUCTS: Mapping[str, Mapping[str, str]] = {
    "kubernetes.GroupVersionKind": _KIND,
    "kubernetes.GroupVersionResource": _RESOURCE,
    "kubernetes.UserInfo": {
        "username": "string", "uid": "string", "groups": "list(string)", "extra": "map(string, list(string))",
    },
    "kubernetes.AdmissionRequest": {
        "kind": "kubernetes.GroupVersionKind", "resource": "kubernetes.GroupVersionResource", "subResource": "string",
        "requestKind": "kubernetes.GroupVersionKind", "requestResource": "kubernetes.GroupVersionResource",
        "requestSubResource": "string", "name": "string", "namespace": "string", "operation": "string",
        "userInfo": "kubernetes.UserInfo", "dryRun": "bool", "options": "dyn",
    },
    "kubernetes.NamespaceSpec": {"finalizers": "list(string)"},
    "kubernetes.NamespaceCondition": {
        "status": "string", "type": "string", "lastTransitionTime": "timestamp", "message": "string",
        "reason": "string",
    },
    "kubernetes.NamespaceStatus": {"conditions": "list(kubernetes.NamespaceCondition)", "phase": "string"},
    "kubernetes.NamespaceMetadata": {
        "name": "string", "generateName": "string", "namespace": "string", "labels": "map(string, string)",
        "annotations": "map(string, string)", "UID": "string", "creationTimestamp": "timestamp",
        "deletionGracePeriodSeconds": "int", "deletionTimestamp": "timestamp", "generation": "int",
        "resourceVersion": "string", "finalizers": "list(string)",
    },
    "kubernetes.Namespace": {
        "metadata": "kubernetes.NamespaceMetadata", "spec": "kubernetes.NamespaceSpec",
        "status": "kubernetes.NamespaceStatus",
    },
}  # fmt: skip
_PARSED = {name: {field: parse_type(kind) for field, kind in fields.items()} for name, fields in _STRUCTS.items()}
_AUTHORIZER = {
    "authorizer": parse_type("kubernetes.authorization.Authorizer"),
    "authorizer.requestResource": parse_type("kubernetes.authorization.ResourceCheck"),
}


class Accepts(Struct, frozen=True):
    """What the expressions of one place may use, and which types they may have."""

    params: bool
    authorizer: bool = True
    patch: bool = False
    variables: bool = True


@lru_cache(maxsize=64)
def environment(accepts: Accepts, version: tuple[int, int]) -> Environment:
    """The names that an expression may use."""
    variables = {
        "object": DYN, "oldObject": DYN, "request": parse_type("kubernetes.AdmissionRequest"),
        "namespaceObject": parse_type("kubernetes.Namespace"),
    }  # fmt: skip
    structs: dict[str, Mapping[str, Type]] = dict(_PARSED)
    if accepts.params:
        variables["params"] = DYN
    if accepts.authorizer:
        variables |= _AUTHORIZER
    if accepts.variables:
        variables["variables"] = parse_type("kubernetes.variables")
        structs["kubernetes.variables"] = {}
    return Environment(variables, structs, version, patch=accepts.patch)


class Expression:
    """One expression: its text, and the program or why there is none.

    internal: the server calls what is wrong with it an internal error.
    """

    def __init__(
        self,
        text: str,
        accepts: Accepts,
        version: tuple[int, int],
        wanted: Sequence[Type],
        fields: Mapping[str, Type] | None = None,
    ) -> None:
        self.text = text
        self.program: CompiledExpression | None = None
        self.fault = self.unknown = ""
        self.internal = False
        self.kind: Type | None = None
        environment_of = environment(accepts, version)
        if fields:
            environment_of = environment_of.with_variables(fields)
        try:
            program = _compile_cached(text, environment_of) if not fields else compile_expression(text, environment_of)
        except values.CompileError as error:
            self.fault = f"compilation failed: {error}"
            return
        except values.InstantiationError as error:
            self.fault, self.internal = f"program instantiation failed: {error}", True
            return
        except values.NotComputed as error:
            self.unknown = str(error)
            return
        if wanted and program.kind not in wanted:
            names = [_format_go_type(kind) for kind in wanted]
            expected = names[0] if len(names) == 1 else f"one of [{' '.join(names)}]"
            self.fault = f"must evaluate to {expected} but got {_format_go_type(program.kind)}"
            return
        self.program, self.kind = program, program.kind


def _format_go_type(kind: Type) -> str:
    """As Go prints a type: by its run-time name."""
    names = {"null": "null_type", "timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration"}
    if not kind.params:
        return names.get(kind.name, kind.name)
    return f"{kind.name}({', '.join(_format_go_type(param) for param in kind.params)})"


_CACHE: dict[tuple[str, int], CompiledExpression] = {}
_MOST_CACHED = 2000


def _compile_cached(text: str, environment_of: Environment) -> CompiledExpression:
    """Compiled once for all policies that hold the same text. Raises as ``compile_expression``."""
    key = (text, id(environment_of))
    compiled_expression = _CACHE.get(key)
    if compiled_expression is None:
        if len(_CACHE) >= _MOST_CACHED:
            _CACHE.clear()
        compiled_expression = _CACHE[key] = compile_expression(text, environment_of)
    return compiled_expression


BOOLEAN, TEXT, TEXT_OR_NULL = (BOOL,), (STRING,), (STRING, NULL)
OBJECT, PATCHES = (parse_type("Object"),), (list_type(parse_type("JSONPatch")),)


def declared_type(kind: Type | None) -> Type:
    """Return the type that a variable is declared with: lists and maps keep theirs, other rich types are dynamic."""
    if kind is None or kind.kind in ("struct", "opaque", "type", "error", "param"):
        return DYN
    if kind.kind in ("list", "map"):
        return Type(kind.kind, kind.name, tuple(declared_type(param) for param in kind.params))
    return kind


class Variables:
    """``variables`` of one evaluation: each is computed when it is first asked for."""

    def __init__(self, expressions: Mapping[str, Expression], names: Mapping[str, Any], maximum: int) -> None:
        self.expressions, self.names, self.most = expressions, names, maximum
        self.values: dict[str, Any] = {}
        self.cost = 0

    def has_field(self, name: str) -> bool:
        return name in self.expressions

    def get_field(self, name: str) -> Any:
        """Raises EvalError, NotComputed."""
        if name not in self.values:
            self.values[name] = self._compute_variable(name)
        value = self.values[name]
        if isinstance(value, Exception):
            raise value
        return value

    def _compute_variable(self, name: str) -> Any:
        expression = self.expressions.get(name)
        if expression is None:
            return values.EvalError(f"no such key: {name}")
        if expression.unknown:
            return values.NotComputed(expression.unknown)
        if expression.program is None:
            return values.EvalError(f'composited variable "{name}" fails to compile: {expression.fault}')
        try:
            value, cost = expression.program.evaluate({**self.names, "variables": self}, self.most)
        except values.CostExceeded as error:
            self.cost += values.PER_CALL
            return values.EvalError(f'composited variable "{name}" fails to evaluate: {error.message}')
        except values.EvalError as error:
            return values.EvalError(f'composited variable "{name}" fails to evaluate: {error.message}')
        self.cost += cost
        return value


class UnknownValue:
    """A value that is not known here: asking it for a field ends the evaluation."""

    def __init__(self, what: str) -> None:
        self.what = what

    def has_field(self, _name: str) -> bool:
        raise values.NotComputed(self.what)

    def get_field(self, _name: str) -> Any:
        raise values.NotComputed(self.what)


class Result(Struct, frozen=True):
    """Of one expression: a value, or the error that the server would name."""

    value: Any = None
    error: str = ""


class OutOfBudget(Exception):
    """The expressions of one policy together cost more than the server allows."""


class Evaluation:
    """Expressions of one place evaluated one after the other. Raises NotComputed where something is not known."""

    def __init__(
        self,
        names: Mapping[str, Any],
        variables: Mapping[str, Expression],
        *,
        budget: int = values.PER_POLICY,
        maximum: int = values.PER_CALL,
    ) -> None:
        self.variables = Variables(variables, names, maximum)
        self.names = {**names, "variables": self.variables}
        self.budget, self.most = budget, maximum

    def run(self, expression: Expression) -> Result:
        """Raises OutOfBudget, NotComputed."""
        if expression.unknown:
            raise values.NotComputed(expression.unknown)
        if expression.program is None:
            return Result(error=f"compilation error: {expression.fault}")
        before = self.variables.cost
        value, cost, error = None, 0, ""
        try:
            value, cost = expression.program.evaluate(self.names, self.most)
        except values.CostExceeded as fault:
            cost, error = values.PER_CALL, fault.message
        except values.EvalError as fault:
            error = fault.message
        self.budget -= cost + self.variables.cost - before
        if self.budget < 0:
            raise OutOfBudget(OUT_OF_BUDGET)
        return Result(error=f"expression '{expression.text}' resulted in error: {error}") if error else Result(value)


def names_of(
    request: Request,
    original: Request,
    namespace: Raw | None,
    params: Raw | None,
    server: Server,
    *,
    has_params: bool,
    plain: Collection[str] = (),
) -> dict[str, Any]:
    """Return what the names of an expression hold. ``original``: the request before it was matched in another
    version. ``plain``: which of object and oldObject are not typed where the other values are.
    """
    typed = server.has_change("policy/typed-values")
    groups = () if request.user is None else request.user.groups
    # What few expressions ask for is made when one does.
    names: dict[str, Any] = {
        "object": request.object,
        "oldObject": request.old,
        "request": partial(_request, request, original),
        "namespaceObject": None if namespace is None else partial(_namespace, namespace),
        "authorizer": partial(authorizer_of, groups),
        "authorizer.requestResource": partial(request_check_of, groups),
    }
    if has_params:
        names["params"] = params
    if not typed:
        return names
    for name, raw in (("object", request.object), ("oldObject", request.old), ("params", params)):
        if name in names and raw is not None and name not in plain:
            names[name] = partial(typed_object, raw)
    names["request"] = lambda: typed_as(_request(request, original), "AdmissionRequest")
    if namespace is not None:
        names["namespaceObject"] = lambda: typed_as(_namespace(namespace), "Namespace")
    return names


def _request(request: Request, original: Request) -> dict[str, Any]:
    user = request.user
    kinds = [{"group": asked.group, "version": asked.version, "kind": asked.kind} for asked in (request, original)]
    if request.subresource == "scale":
        kinds = [{"group": "autoscaling", "version": "v1", "kind": SCALE}] * 2
    out: dict[str, Any] = {
        "kind": kinds[0],
        "resource": {"group": request.group, "version": request.version, "resource": request.resource},
        "requestKind": kinds[1],
        "requestResource": {"group": original.group, "version": original.version, "resource": original.resource},
        "operation": request.operation,
        "dryRun": request.dry_run,
        "options": {"kind": f"{request.operation.capitalize()}Options", "apiVersion": "meta.k8s.io/v1"},
        "userInfo": UnknownValue("who creates the pod") if user is None else _user(user),
    }
    optional = {
        "name": request.name, "namespace": request.namespace, "subResource": request.subresource,
        "requestSubResource": request.subresource,
    }  # fmt: skip
    return out | {key: value for key, value in optional.items() if value}


def _user(user: Any) -> dict[str, Any]:
    return {"username": user.name, "groups": list(user.groups)}


def _namespace(namespace: Raw) -> dict[str, Any]:
    metadata = dict(namespace.get("metadata") or {})
    name = metadata.get("name", "")
    metadata["labels"] = {"kubernetes.io/metadata.name": name, **(metadata.get("labels") or {})}
    spec = namespace.get("spec") or {"finalizers": ["kubernetes"]}
    status = namespace.get("status") or {"phase": "Active"}
    return {"metadata": metadata, "spec": dict(spec), "status": dict(status)}


def conditions_budget() -> int:
    return _CONDITIONS_BUDGET
