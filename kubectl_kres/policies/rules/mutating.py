"""MutatingAdmissionPolicy: what the policies make of an object, in one order of theirs.

Source: apiserver admission/plugin/policy/mutating.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Finding, Refusal, StatusCause
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.decoding import unknown_fields
from kubectl_kres.policies.cel.base.values import (
    TYPED,
    LibraryValue,
    MessageLiteral,
    NotComputed,
    Optional,
    TypedList,
    TypedStruct,
    is_list,
)
from kubectl_kres.policies.rules.apply_configuration import CannotApply, merge_configuration
from kubectl_kres.policies.rules.expressions import OBJECT, PATCHES, Evaluation, OutOfBudget, names_of
from kubectl_kres.policies.rules.json_patch import CannotPatch, TestFailed, apply_operations
from kubectl_kres.policies.rules.policy import BoundPolicy, ConfigurationError, Policy, RequestContext, name_of
from kubectl_kres.policies.rules.request import Request, match_request
from kubectl_kres.policies.rules.resources import canonical_object, draft_of, undecodable
from kubectl_kres.provenance.journal import Set, Source
from kubectl_kres.quantity import Quantity

Raw = Mapping[str, Any]
RULE = "policy/mutation-failed"
NO_ANSWER = "policy/no-answer"
_LIST, _MAP = "list(dyn)", "map(dyn, dyn)"
_OPERATIONS = ("CREATE", "UPDATE", "CONNECT")


class Failed(Exception):
    """A mutation that ends the request at once: the server's refusal."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class _Drops(Exception):
    """A mutation at which the server closes the connection without an answer."""


class _MutationError(Exception):
    """A mutation that its failure policy decides about; the text is the server's."""


class Mutation(Struct, frozen=True):
    """One mutation that changed the object."""

    policy: str
    binding: str
    index: int
    before: Raw
    after: Raw

    @property
    def source(self) -> Source:
        return Source("MutatingAdmissionPolicy", self.policy, field=f"spec.mutations[{self.index}]")

    def changed_resources(self, server: Server) -> Iterator[Set]:
        """Yield the requests and limits of a pod that it changed."""
        before, after = draft_of(self.before, server).values(), draft_of(self.after, server).values()
        for path in sorted({*before, *after}):
            was, is_ = before.get(path), after.get(path)
            if was != is_:
                texts = [None if quantity is None else str(quantity) for quantity in (is_, was)]
                yield Set(path, "policy/mutated", texts[0], texts[1], self.source)


class _Invocation(Struct, frozen=True):
    policy: Policy
    binding: str
    params: Raw | None
    seen: Request

    @property
    def key(self) -> tuple[str, str, str]:
        metadata = (self.params or {}).get("metadata") or {}
        return self.policy.name, self.binding, str(metadata.get("name", ""))


class _Error(Struct, frozen=True):
    policy: Policy
    binding: str | None
    text: str
    reason: str = "Forbidden"

    def __str__(self) -> str:
        if self.binding is None:
            return f'policy "{self.policy.name}" denied request: {self.text}'
        return f"policy '{self.policy.name}' with binding '{self.binding}' denied request: {self.text}"


class _ShownObjects:
    """Whether the server has the objects of one request at hand as maps or typed: as who asked first wanted them.

    Match conditions want them typed, and all who ask after them; a mutated object is made anew. Source: apiserver
    pkg/admission/conversion.go LazyObject.
    """

    def __init__(self) -> None:
        self.typed = False
        self._untyped: dict[str, bool] = {}

    def untyped_names(self, *, condition: bool) -> frozenset[str]:
        """Return the names whose objects are maps for who asks now."""
        self.typed = self.typed or condition
        for name in ("object", "oldObject"):
            self._untyped.setdefault(name, not self.typed)
        return frozenset(name for name, plain in self._untyped.items() if plain)

    def mutated(self) -> None:
        self._untyped.pop("object", None)


class MutationRun:
    """The policies' work on one request: ``run`` once, and again where the server invokes its plugins again."""

    def __init__(self, policies: Sequence[BoundPolicy], context: RequestContext, server: Server) -> None:
        self.policies, self.context, self.server = policies, context, server
        self.steps: list[Mutation] = []
        #: At which mutations the server closes the connection; what comes after it is computed without them.
        self.dropped: list[Finding] = []
        self.again = False
        #: A mutation wrote the object and read it once more, which loses empty lists, even if it changed nothing.
        self.rewritten = False
        self._last_object: Raw | None = None
        self._invoked: set[tuple[str, str, str]] = set()
        self._reinvoked: set[tuple[str, str, str]] = set()

    def run(self, request: Request, *, reinvoked: bool = False) -> tuple[Raw, Refusal | None]:
        """Return the object after the policies, and a refusal. Raises NotComputed."""
        canonical = request.object or {}
        if request.operation not in _OPERATIONS:
            return canonical, None
        errors: list[_Error] = []
        invocations = list(self._invocations(request, errors))
        if reinvoked and invocations and canonical != self._last_object:
            self._require()
        try:
            if invocations:
                canonical = self._run_invocations(invocations, request, canonical, errors, reinvoked=reinvoked)
        except Failed as failed:
            return canonical, failed.refusal
        self._last_object = canonical
        failing = [error for error in errors if error.policy.fails]
        return canonical, _refusal(failing) if failing else None

    def _require(self) -> None:
        self._reinvoked |= self._invoked
        self._invoked = set()

    def _invocations(self, request: Request, errors: list[_Error]) -> Iterator[_Invocation]:
        for bound in self.policies:
            policy = bound.policy
            request_seen = match_request(policy.spec.get("matchConstraints"), request, self.context.namespace)
            if request_seen is None:
                continue
            if not policy.is_kind_served(request, self.context):
                errors.append(_Error(policy, None, f"failed to configure policy: {policy.unknown_kind()}"))
                continue
            for binding in bound.bindings:
                resources = (binding.get("spec") or {}).get("matchResources")
                if match_request(resources, request, self.context.namespace) is None:
                    continue
                try:
                    params = policy.params(binding, request, self.context)
                except ConfigurationError as error:
                    text = f"failed to configure binding: {error}"
                    errors.append(_Error(policy, name_of(binding), text))
                    continue
                for param in params:
                    yield _Invocation(policy, name_of(binding), param, request_seen)

    def _run_invocations(
        self,
        invocations: Sequence[_Invocation],
        request: Request,
        canonical: Raw,
        errors: list[_Error],
        *,
        reinvoked: bool,
    ) -> Raw:
        dirty = False
        shown: dict[str, _ShownObjects] = {}
        for invocation in invocations:
            objects = shown.setdefault(invocation.seen.api_version, _ShownObjects())
            if not self._is_matched(invocation, request.with_object(canonical), objects, errors):
                continue
            if reinvoked and invocation.key not in self._reinvoked:
                continue
            before = canonical
            canonical, patched = self._invoked_once(invocation, request, canonical, objects, errors)
            dirty = dirty or patched
            if canonical != before:
                self._require()
                self.again = True
            if invocation.policy.spec.get("reinvocationPolicy") == "IfNeeded":
                self._invoked.add(invocation.key)
        if dirty:
            self._require()
            self.again = True
        return canonical

    def _is_matched(
        self, invocation: _Invocation, request: Request, objects: _ShownObjects, errors: list[_Error]
    ) -> bool:
        if not invocation.policy.spec.get("matchConditions"):
            return True
        plain = objects.untyped_names(condition=True)
        try:
            return invocation.policy.holds(request, request, invocation.params, self.context, plain)
        except ConfigurationError as error:
            errors.append(_Error(invocation.policy, invocation.binding, str(error), "Invalid"))
            return False

    def _invoked_once(
        self, invocation: _Invocation, request: Request, canonical: Raw, objects: _ShownObjects, errors: list[_Error]
    ) -> tuple[Raw, bool]:
        """Return the object after all mutations of the policy, and whether any of them was carried out."""
        policy, patched = invocation.policy, False
        for index, mutation in enumerate(policy.spec.get("mutations") or ()):
            try:
                after = self._apply_mutation(invocation, mutation, request.with_object(canonical), objects)
            except _MutationError as error:
                errors.append(_Error(policy, invocation.binding, str(error), "Invalid"))
                continue
            except _Drops:
                self._drop(policy, index)
                continue
            patched = True
            objects.mutated()
            if after != canonical:
                self.steps.append(Mutation(policy.name, invocation.binding, index, canonical, after))
            canonical = after
        return canonical, patched

    def _drop(self, policy: Policy, index: int) -> None:
        source = Source("MutatingAdmissionPolicy", policy.name, field=f"spec.mutations[{index}].jsonPatch.expression")
        text = (
            f"the server drops the connection: MutatingAdmissionPolicy '{policy.name}' sets a list of Object values by "
            "JSONPatch, which servers before 1.37 cannot do"
        )
        finding = Finding(text, NO_ANSWER, source=source)
        if finding not in self.dropped:
            self.dropped.append(finding)

    def _apply_mutation(self, invocation: _Invocation, mutation: Raw, request: Request, objects: _ShownObjects) -> Raw:
        """Raises _MutationError, Failed, NotComputed, _Drops."""
        policy = invocation.policy
        is_patch = mutation.get("patchType") == "JSONPatch"
        part = mutation.get("jsonPatch" if is_patch else "applyConfiguration") or {}
        expression = policy.expression(str(part.get("expression", "")), PATCHES if is_patch else OBJECT, patch=True)
        if expression.fault:
            raise _MutationError(expression.fault)
        names = names_of(
            request,
            request,
            self.context.namespace,
            invocation.params,
            self.server,
            has_params=policy.param_kind is not None,
            plain=objects.untyped_names(condition=False),
        )
        evaluation = Evaluation(names, policy.variables, maximum=self.context.most)
        try:
            result = evaluation.run(expression)
        except OutOfBudget as error:
            raise _MutationError(str(error)) from None
        if result.error:
            raise _MutationError(result.error)
        canonical = request.object or {}
        if is_patch:
            return self._apply_json_patch(canonical, result.value)
        return self._apply_configuration(canonical, result.value)

    def _apply_configuration(self, canonical: Raw, value: Any) -> Raw:
        if not isinstance(value, MessageLiteral):
            raise _MutationError(f"unsupported return type from ApplyConfiguration expression: {value}")
        mistakes = list(_find_misnamed_types(value, (value.name,)))
        if mistakes:
            raise _MutationError("type mismatch: " + "\n".join(mistakes))
        try:
            merged = merge_configuration(canonical, as_json(value))
        except CannotApply as fault:
            raise _MutationError(f"error applying patch: {fault}") from None
        kind, version = str(canonical.get("kind", "")), str(canonical.get("apiVersion", "v1"))
        group_version = version if "/" in version else f"/{version}"
        fault_text = undecodable(merged)
        if fault_text is not None:
            raise _MutationError(f"unable to convert unstructured object to {group_version}, Kind={kind}: {fault_text}")
        return self._settle_object(merged)

    def _apply_json_patch(self, canonical: Raw, value: Any) -> Raw:
        operations = [_operation(item, self.server) for item in value]
        try:
            document = apply_operations(canonical, operations)
        except TestFailed:
            return canonical
        except CannotPatch as fault:
            raise _MutationError(f"JSON Patch: {fault}") from None
        if not isinstance(document, dict):
            raise Failed(_internal("json: cannot unmarshal array into Go value"))
        text = undecodable(document)
        if text is not None:
            raise Failed(_internal(text))
        unknown = unknown_fields(document, str(document.get("kind", "")))
        if unknown:
            raise Failed(_internal(f"strict decoding error: {', '.join(sorted(unknown))}"))
        return self._settle_object(document)

    def _settle_object(self, canonical: Raw) -> Raw:
        try:
            settled = canonical_object(canonical, self.server)
        except Unparsable as fault:
            raise _MutationError(fault.error.message) from None
        self.rewritten = True
        return settled


def _internal(text: str) -> Refusal:
    message = f"Internal error occurred: {text}"
    return Refusal(500, "InternalError", message, (Finding(text, RULE),), (StatusCause("", "", text),))


def _refusal(errors: Sequence[_Error]) -> Refusal:
    first = errors[0]
    source = Source("MutatingAdmissionPolicy", first.policy.name)
    causes = tuple(StatusCause("", "", text) for text in sorted(str(error) for error in errors))
    return Refusal(403, first.reason, str(first), (Finding(str(first), RULE, source=source),), causes)


def _find_misnamed_types(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    """Objects whose type's name is not the path to them."""
    if isinstance(value, MessageLiteral):
        expected = ".".join(path)
        if value.name != expected:
            yield (
                f'unexpected type name "{value.name}", expected "{expected}", which matches field name path from root '
                "Object type"
            )
        for key, item in value.fields.items():
            yield from _find_misnamed_types(item, (*path, key))
    elif is_list(value):
        for item in value:
            yield from _find_misnamed_types(item, path)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _find_misnamed_types(item, path)


def as_json(value: Any) -> Any:
    """Return a value of an expression as JSON. Raises NotComputed for what has none."""
    if isinstance(value, MessageLiteral):
        return {key: as_json(item) for key, item in value.fields.items()}
    if isinstance(value, Optional) and type(value.value) not in TYPED:
        return as_json(value.value)
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if is_list(value):
        return [as_json(item) for item in value]
    if isinstance(value, LibraryValue | Optional | Quantity | bytes) or hasattr(value, "nano"):
        raise NotComputed("a mutation with a value that is no JSON")
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    return value


def _operation(value: Any, server: Server) -> dict[str, Any]:
    """Return one operation of a patch. Raises _Drops, _MutationError."""
    if not isinstance(value, MessageLiteral) or value.name != "JSONPatch":
        raise _MutationError("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch")
    fields = value.fields
    out = {key: fields.get(key, "") for key in ("op", "path")}
    if fields.get("from"):
        out["from"] = fields["from"]
    if "value" in fields:
        result = fields["value"]
        if isinstance(result, MessageLiteral):
            mistakes = list(_find_misnamed_types(result, (result.name,)))
            if mistakes:
                raise _MutationError("type mismatch: " + "\n".join(mistakes))
        elif _holds_made(result) and not server.has_change("policy/list-of-objects"):
            raise _Drops
        fault = _not_json(result)
        if fault:
            raise _MutationError(
                f"JSONPath valueExpression evaluated to a type that could not marshal to JSON: {fault}"
            )
        out["value"] = as_json(result)
    return out


def _not_json(value: Any) -> str:
    """Return why a value of a JSON patch cannot be written; empty if it can.

    Source: the methods ConvertToNative of cel-go and of apiserver pkg/cel/common/valuesschemalesstyped.go, and
    pkg/cel/mutation/dynamic/objects.go.
    """
    kind = type(value)
    if kind is TypedStruct:
        return f"type conversion error from struct type v1.{value.go_type.name} to *structpb.Value"
    if kind in TYPED:
        return f"type conversion error from '{_LIST if kind is TypedList else _MAP}' to '*structpb.Value'"
    if isinstance(value, Optional):
        return _not_json(value.value) if value.present else "optional.none() dereference"
    if isinstance(value, MessageLiteral):
        go_type = _go_within(value)
        return f"proto: invalid type: {go_type}" if go_type else ""
    items = value if is_list(value) else value.values() if isinstance(value, dict) else ()
    return next(filter(None, map(_not_json, items)), "")


def _go_within(value: Any) -> str:
    """Return the Go type of what an Object literal holds that is no JSON: null, and structs in lists and maps made.

    Empty: there is none. Raises NotComputed for types that are not known here.
    """
    if isinstance(value, MessageLiteral):
        return next(filter(None, map(_go_within, value.fields.values())), "")
    if value is None:
        return "structpb.NullValue"
    if type(value) in TYPED:
        return ""
    for item in value if is_list(value) else value.values() if isinstance(value, dict) else ():
        if type(item) is TypedStruct:
            return f"v1.{item.go_type.name}"
        if type(item) in TYPED:
            raise NotComputed("a mutation with a list or a map of an object in a list")
        go_type = _go_within(item)
        if go_type:
            return go_type
    return ""


def _holds_made(value: Any) -> bool:
    if isinstance(value, MessageLiteral):
        return True
    if is_list(value):
        return any(_holds_made(item) for item in value)
    return isinstance(value, dict) and any(_holds_made(item) for item in value.values())
