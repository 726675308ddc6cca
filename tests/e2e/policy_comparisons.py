"""Random comparisons of what an object holds with what an expression makes, and patches that put such values back."""

from __future__ import annotations

import random

#: Values of every kind, from the object, from what else the server gives, and made by the expression.
_GIVEN = (
    *("object.spec", "object.metadata", "object.metadata.labels", "object.spec.containers", "object.status"),
    *("object.spec.containers[0]", "object.spec.containers[0].resources", "object.spec.?resources.orValue(null)"),
    *("object.spec.containers[0].resources.?limits.orValue({})", "object.spec.containers[0].?resources.?requests"),
    *("object.spec.initContainers", "object.spec.?initContainers[?0].?resources", "object.spec.tolerations"),
    *("object.spec.securityContext", "object.spec.containers[0].?securityContext.orValue(null)"),
    *("object.spec.containers[0].?env.orValue([])", "object.spec.containers.map(c, c.resources)"),
    *("object.spec.containers.filter(c, true)", "object.spec.containers.map(c, c.name)", "object.spec.containers[1]"),
    *("dyn(request.kind)", "dyn(request.requestKind)", "dyn(request.resource)", "dyn(request.userInfo.groups)"),
    *("dyn(namespaceObject.metadata.labels)", "dyn(namespaceObject.spec)", "oldObject"),
    *("object.spec.containers[0].?volumeMounts.orValue([])", "object.spec.?volumes[?0].orValue(null)"),
    *("object.metadata.?annotations.orValue({})", "object.spec.containers[0].?command.orValue([])"),
    *("object.spec.?nodeSelector", "object.spec.?affinity", "object.spec.?volumes[?0].?emptyDir"),
)
_MADE = (
    *("null", "1.5", "1", "2u", "'c0'", "b'ab'", "true", "duration('90s')", "[]", "{}", "[dyn(1), 'a']", "{'a': 'b'}"),
    *("{'cpu': '1'}", "['c0']", "{1: 'a'}", "type(object.spec)", "[null]", "{'a': null}", "optional.none()"),
    *("[object.spec.containers[0]]", "{'a': object.metadata.labels}", "[object.spec.containers[0].resources]"),
    *("optional.of(object.spec.containers)", "{'limits': {'cpu': '1'}}", "[{}]", "[[]]", "{'resources': {}}"),
    *("object.spec.containers + []", "[] + object.spec.containers", "object.metadata.labels.transformMap(k, v, v)"),
    *("{'requests': object.spec.containers[0].resources.?requests.orValue({})}", "{'name': 'c0'}", "['c0', dyn(1)]"),
)
_KEYS = ("1", "1u", "0.0", "true", "'app'", "'name'", "null", "0", "0u", "'limits'", "'containers'")
_NAMES = ("'app'", "'name'", "'limits'", "'cpu'", "0", "1")


def comparison(rng: random.Random) -> str:
    """A condition whose terms may be of different kinds, which is an error or just not equal."""
    text = rng.choice(_FORMS)(rng)
    if rng.random() < 0.25:
        return f"object.spec.containers.{rng.choice(('all', 'exists'))}(c, {text})"
    return f"!({text})" if rng.random() < 0.2 else text


def value(rng: random.Random) -> str:
    """A value to be set: taken from the object, perhaps within something that the expression makes."""
    given = rng.choice(_GIVEN)
    made = () if "?" in given and "orValue" not in given else (f"Object.spec{{a: {given}}}",)
    return rng.choice((given, given, f"[{given}]", f"{{'a': {given}}}", *made))


def _one(rng: random.Random) -> str:
    found = rng.choice(_GIVEN if rng.random() < 0.7 else _MADE)
    if rng.random() < 0.15:
        return rng.choice((f"[{found}]", f"{{'a': {found}}}", f"optional.of({found})", f"[dyn({found}), dyn(1)]"))
    return found


def _dyn(rng: random.Random) -> str:
    return f"dyn({_one(rng)})"


_FORMS = (
    *([lambda rng: f"{_dyn(rng)} {rng.choice(('==', '==', '!='))} {_dyn(rng)}"] * 5),
    lambda rng: f"{_dyn(rng)} in {_dyn(rng)}",
    lambda rng: f"dyn({rng.choice(_KEYS)}) in {_dyn(rng)}",
    lambda rng: f"{_dyn(rng)}[dyn({rng.choice(_KEYS)})] == {_dyn(rng)}",
    lambda rng: f"{_dyn(rng)}[?dyn({rng.choice(_NAMES)})].hasValue()",
    lambda rng: f"sets.{rng.choice(('contains', 'intersects', 'equivalent'))}({_dyn(rng)}, {_dyn(rng)})",
    lambda rng: f"{_dyn(rng)}.{rng.choice(('indexOf', 'lastIndexOf'))}({_dyn(rng)}) >= 0",
    lambda rng: f"[{_dyn(rng)}, {_dyn(rng)}].distinct().size() == 1",
    lambda rng: f"optional.ofNonZeroValue({_one(rng)}).hasValue()",
    lambda rng: f"type({_one(rng)}) == type({_one(rng)})",
    lambda rng: f"size({_dyn(rng)}) > 1",
    lambda rng: f"string({_dyn(rng)}) != ''",
    lambda rng: f"({_dyn(rng)} + {_dyn(rng)}) == {_dyn(rng)}",
    lambda rng: f"{_dyn(rng)} < {_dyn(rng)}",
    lambda rng: f"'%s'.format([{_one(rng)}]) != ''",
    lambda rng: f"cel.bind(x, {_one(rng)}, x == {_dyn(rng)})",
    lambda rng: f"{_dyn(rng)}.exists(x, x == {_dyn(rng)})",
)
