"""What systems add to answers about Kubernetes' objects: parts that common code hands on and does not look into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar, cast

from kubectl_kres.record import Record


class SystemPart(Record, frozen=True):
    """A part of an answer that a system made. In documents it is a field of the answer, called ``KEY``.

    ``PLACE``: what the answer says it of: ``pods``, the ``quotas`` that refuse, or ``namespaces``. ``SEVERAL``: the
    field is a list of such parts.
    """

    KEY: ClassVar[str] = ""
    PLACE: ClassVar[str] = ""
    SEVERAL: ClassVar[bool] = False

    @property
    def about_another(self) -> bool:
        """Return whether the answer is about another object like this one, which has ended."""
        return False


#: Parts by their ``KEY``; of those that there may be several of, a tuple.
Parts = Mapping[str, Any]
Part = TypeVar("Part", bound=SystemPart)


def part_of(parts: Parts, kind: type[Part]) -> Part | None:
    """Return the part of a kind; None: there is none."""
    return cast("Part | None", parts.get(kind.KEY))


def parts_of(parts: Parts, kind: type[Part]) -> tuple[Part, ...]:
    """Return all parts of a kind of which there may be several."""
    return cast("tuple[Part, ...]", parts.get(kind.KEY, ()))


def hold(*parts: SystemPart) -> Parts:
    """Return parts by their keys."""
    by_key: dict[str, Any] = {}
    for part in parts:
        by_key[part.KEY] = (*by_key.get(part.KEY, ()), part) if part.SEVERAL else part
    return by_key
