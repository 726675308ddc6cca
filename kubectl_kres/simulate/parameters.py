"""Steps of a change that are about objects which admission policies take parameters from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from msgspec import Struct

from kubectl_kres.model.admitting import is_secret, kind_name
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.raw import Raw, mapping
from kubectl_kres.policies.rules.parameters import Look
from kubectl_kres.simulate.change import Apply, Delete, ParameterStep, Patch, Step, key_of_step

#: Kind, namespace and name of a parameter, the kind as needs and stores call it.
ParameterKey = tuple[str, str, str]
_POLICIES = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
_BINDINGS = tuple(f"{kind}Binding" for kind in _POLICIES)


class Parameters(Struct, frozen=True):
    """Which objects are parameters. ``versions``: API version by kind. ``spaces``: namespaces that bindings name."""

    versions: Mapping[str, str] = {}
    spaces: frozenset[str] = frozenset()

    def concern(self, step: Step) -> bool:
        """Whether a step is about an object of a kind that policies take parameters from."""
        version = self.versions.get(key_of_step(step)[0])
        if version is None:
            return False
        return not isinstance(step, Apply) or step.object.get("apiVersion") == version

    def step(self, step: Step, namespace: str, space: str) -> ParameterStep | None:
        """A step about an object in a namespace, or in none, as ``space`` sees it; None if it is none about parameters,
        or if no policy looks there for objects of that space.
        """
        if not self.concern(step) or not isinstance(step, Apply | Delete | Patch):
            return None
        own = namespace in {"", space}
        kind = key_of_step(step)[0]
        return ParameterStep(step, self.versions[kind], namespace, own) if own or namespace in self.spaces else None


def parameters_of(policies: Iterable[Raw]) -> Parameters:
    """The parameters of policies, by them and their bindings. Never a Secret, nor a kind that is simulated itself."""
    versions: dict[str, str] = {}
    spaces: set[str] = set()
    for raw in policies:
        spec = mapping(raw, "spec")
        if raw.get("kind") in _POLICIES:
            param_kind = mapping(spec, "paramKind")
            version, kind = str(param_kind.get("apiVersion", "")), str(param_kind.get("kind", ""))
            if kind and not is_secret(version, kind) and (kind == "ConfigMap" or kind not in BY_KIND):
                versions[kind] = version
        elif raw.get("kind") in _BINDINGS:
            spaces.add(str(mapping(spec, "paramRef").get("namespace") or ""))
    return Parameters(versions, frozenset(spaces - {""}))


def parameter_key(step: ParameterStep) -> ParameterKey:
    """The object that the step is about."""
    kind, name = key_of_step(step.step)
    return kind_name(step.api_version, kind), step.namespace, name


def stored_parameter(step: ParameterStep, look: Look) -> Raw | None:
    """The object that the step is about as it is; None: there is none."""
    kind, name = key_of_step(step.step)
    result, _ = look(step.api_version, kind, step.namespace, {"name": name})
    return next((raw for raw in result if _place(raw)[1] == name), None)


def after_changes(look: Look, changed: Mapping[ParameterKey, Raw | None]) -> Look:
    """Where parameters are once some of them were changed; None: it was deleted."""
    return partial(_look, look, changed) if changed else look


def _look(
    look: Look,
    changed: Mapping[ParameterKey, Raw | None],
    version: str,
    kind: str,
    namespace: str,
    reference: Raw | None,
) -> tuple[Sequence[Raw], str]:
    result, state = look(version, kind, namespace, reference)
    if reference is None:
        return result, state
    spaces = {str(reference.get("namespace") or namespace), ""}
    name = kind_name(version, kind)
    new = [raw for (of, space, _), raw in changed.items() if of == name and space in spaces and raw is not None]
    kept = [raw for raw in result if (name, *_place(raw)) not in changed]
    is_known = any(_place(raw)[1] == reference.get("name") for raw in new)
    return [*kept, *new], "read" if is_known and state != "absent" else state


def _place(raw: Raw) -> tuple[str, str]:
    metadata = mapping(raw, "metadata")
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
