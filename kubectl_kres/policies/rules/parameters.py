"""The parameters of a policy, out of what was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kubectl_kres.model.admitting import is_secret
from kubectl_kres.model.kinds import BY_KIND, always_served
from kubectl_kres.policies.cel.base.errors import NotComputed
from kubectl_kres.policies.rules.policy import FindParams

Raw = Mapping[str, Any]
#: As ``FindParams``, with how reading went: read, denied, absent (no such kind is served), failed or unread.
Look = Callable[[str, str, str, Raw | None], tuple[Sequence[Raw], str]]
_WHY = {"denied": "may not be read", "failed": "could not be read"}


def no_parameters(_version: str, _kind: str, _namespace: str, _reference: Raw | None) -> tuple[Sequence[Raw], str]:
    """Where nothing was read."""
    return (), "unread"


def finder(look: Look) -> FindParams:
    """Finds parameters among what was read; what was not read is named, and not computed."""

    def find(version: str, kind: str, namespace: str, reference: Raw | None) -> Sequence[Raw] | None:
        if is_secret(version, kind):
            raise NotComputed("its parameters are Secrets, which are never read")
        result, state = look(version, kind, namespace, reference)
        if state == "absent":
            return None
        if reference is None:
            # Without a paramRef no object is wanted, but a policy whose kind is not served refuses everything.
            if state in {"unread", "failed"} and not always_served(version, kind):
                raise NotComputed(f"whether the server has its paramKind, {kind} of {version}, is not known")
            return ()
        if state != "read":
            raise NotComputed(f"its parameters ({_shown(version, kind, namespace, reference)}) {_why(state)}")
        return result

    return find


def _why(state: str) -> str:
    return _WHY.get(state, "are not read")


def _shown(version: str, kind: str, namespace: str, reference: Raw) -> str:
    """``ConfigMap shop/limits``; by a selector ``ConfigMaps of shop``."""
    known = BY_KIND.get(kind)
    what = kind if known is not None and known.api_version == version else f"{kind} of {version}"
    space, name = str(reference.get("namespace") or namespace), reference.get("name")
    return f"{what} {'/'.join(filter(None, (space, name)))}" if name else f"{what} in {space} by labels"
