"""What the pods of a namespace add up to, so that every figure of truth.json comes from here and from no reader."""

from __future__ import annotations

from collections.abc import Callable

from podjson import Template
from podspec import add

FINISHED = ("Succeeded", "Failed")
Bucket = tuple[bool, bool]


class Tally:
    """Sums over one namespace; amounts are thousandths.

    ``buckets`` are the active pods by what quota scopes ask: is it BestEffort, has it a deadline.
    """

    def __init__(self) -> None:
        self.pods, self.active = 0, 0
        self.qos: dict[str, int] = {}
        self.requests: dict[str, int] = {}
        self.limits: dict[str, int] = {}
        self.buckets: dict[Bucket, dict[str, int]] = {}

    def count(self, template: Template, phase: str, size: int) -> None:
        self.pods += size
        add(self.qos, {template.qos: size})
        if phase in FINISHED:
            return
        self.active += size
        for into, one in ((self.requests, template.requests), (self.limits, template.limits)):
            add(into, {name: value * size for name, value in one.items()})
        bucket = self.buckets.setdefault((template.qos == "BestEffort", "activeDeadlineSeconds" in template.spec), {})
        add(bucket, {"pods": 1000 * size})
        add(bucket, {f"requests.{name}": value * size for name, value in template.requests.items()})
        add(bucket, {f"limits.{name}": value * size for name, value in template.limits.items()})

    def used(self, names: list[str], takes: Callable[[Bucket], bool] = lambda _: True) -> dict[str, int]:
        """What a quota over these resources has used, counting the pods in the buckets that ``takes`` says."""
        taken = [sums for bucket, sums in self.buckets.items() if takes(bucket)]
        return {name: sum(sums.get(name, 0) for sums in taken) for name in names}

    def truth(self) -> dict:
        return {
            "pods": self.pods,
            "active": self.active,
            "qos": dict(sorted(self.qos.items())),
            "requests": {name: str(value) for name, value in sorted(self.requests.items())},
            "limits": {name: str(value) for name, value in sorted(self.limits.items())},
        }
