"""The path of a value in an object, as the API server writes it: ``spec.containers[0].resources.limits[cpu]``."""

from __future__ import annotations

from msgspec import Struct


class MapKey(str):
    """A key of a map, which is written in brackets; other names are fields and stand after a dot."""

    __slots__ = ()


#: One step into an object: a field, an index of a list, a key of a map.
Step = str | int


class FieldPath(Struct, frozen=True):
    """The steps from an object to one of its values; none: the object itself."""

    steps: tuple[Step, ...] = ()

    @classmethod
    def parse(cls, text: str) -> FieldPath:
        """Return the path that ``text`` writes. A name of a container in brackets is a key; any text is some path."""
        steps: list[Step] = []
        rest = text
        while rest:
            if rest.startswith("["):
                inside, _, rest = rest[1:].partition("]")
                steps.append(int(inside) if inside.isascii() and inside.isdigit() else MapKey(inside))
            else:
                end = min((index for index in (rest.find("."), rest.find("[")) if index >= 0), default=len(rest))
                if end:
                    steps.append(rest[:end])
                rest = rest[end:]
            rest = rest.removeprefix(".")
        return cls(tuple(steps))

    def __str__(self) -> str:
        parts: list[str] = []
        for step in self.steps:
            if isinstance(step, (int, MapKey)):
                parts.append(f"[{step}]")
            else:
                parts.append(f".{step}" if parts else step)
        return "".join(parts)

    @property
    def holder(self) -> FieldPath:
        """What has the requests and limits that the path leads into: a container, or ``spec``; else the path itself."""
        return FieldPath(self.steps[: self.steps.index("resources")]) if "resources" in self.steps else self

    @property
    def requests_or_limits(self) -> str:
        """``requests`` or ``limits``; empty for a path that leads to neither."""
        if "resources" not in self.steps:
            return ""
        after = self.steps[self.steps.index("resources") + 1 :]
        return next((str(step) for step in after if step in {"requests", "limits"}), "")

    @property
    def resource(self) -> str:
        """The resource that the path ends in; empty for a path that leads to no quantity."""
        keys = [step for step in self.steps if isinstance(step, MapKey)]
        return str(keys[-1]) if keys and self.requests_or_limits else ""

    @property
    def container(self) -> int | None:
        """The number of the container in ``spec.resources.containers[0][cpu].limits`` (the server's odd path)."""
        for before, step in zip(self.steps, self.steps[1:], strict=False):
            if before == "containers" and isinstance(step, int):
                return step
        return None

    @property
    def claim_template(self) -> str:
        """``spec.volumeClaimTemplates[0]`` of a path below it; empty for any other."""
        under = self.steps[:2] == ("spec", "volumeClaimTemplates") and len(self.steps) > 2
        return str(FieldPath(self.steps[:3])) if under else ""
