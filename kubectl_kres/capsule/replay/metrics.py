"""Capsule's own metrics, for those who have no access to its endpoint: the lines of its text format, sorted.

Left out on purpose: ``capsule_claim_condition``, which Capsule writes only on a claim's creation and change of spec and
so shows old states, and the series of namespaces without claims that it forgets to remove.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.replay.reconcile import shares_of
from kubectl_kres.capsule.replay.world import PoolWorld
from kubectl_kres.capsule.rules.allocation import Amounts, add_amounts, readable
from kubectl_kres.capsule.rules.conditions import EXHAUSTED, READY, is_true
from kubectl_kres.model.objects import ObjectRef, ResourceList
from kubectl_kres.quantity import ZERO, Quantity

#: From this power of ten on Go prints a float with an exponent.
_EXPONENT_FROM, _EXPONENT_BELOW = 6, -4


def lines(world: PoolWorld) -> tuple[str, ...]:
    """Return what Capsule's endpoint says of these pools and claims, but for what it has not cleaned up."""
    texts = [line for pool in world.pools.values() for line in _pool_lines(pool)]
    texts += [line for claim in world.claims.values() for line in _claim_lines(claim)]
    return tuple(sorted(texts))


def _pool_lines(pool: ResourcePool) -> Iterator[str]:
    """Source: capsule internal/metrics/resourcepool_recorder.go ResourceUsageMetrics, CalculateExhaustions."""
    name, allocation = pool.metadata.name, pool.status.allocation
    hard, used, left = (_read(pool, mapping) for mapping in (allocation.hard, allocation.used, allocation.available))
    for resource, limit in hard.items():
        labels = {"pool": name, "resource": resource}
        claimed = used.get(resource, ZERO)
        yield _line("pool_resource", labels, 1)
        yield _line("pool_limit", labels, _value(limit))
        yield _line("pool_available", labels, _value(left.get(resource, ZERO)))
        yield _line("pool_usage", labels, _value(claimed))
        yield _line("pool_usage_percentage", labels, _percentage(claimed, limit))
    yield from _namespace_lines(pool, hard)
    yield from _exhaustion_lines(pool)
    if hard:
        for condition in (READY, EXHAUSTED):
            holds = is_true(pool.status.conditions, condition)
            yield _line("pool_condition", {"condition": condition, "pool": name}, int(holds))


def _namespace_lines(pool: ResourcePool, hard: Amounts) -> Iterator[str]:
    result: dict[str, list[Amounts]] = {}
    for share in shares_of(pool):
        result.setdefault(share.namespace, []).append(share.amounts)
    for space, lists in result.items():
        for resource, claimed in add_amounts(lists).items():
            labels = {"pool": pool.metadata.name, "resource": resource, "target_namespace": space}
            total = _round_sum(claimed, [quantities[resource] for quantities in lists if resource in quantities])
            yield _line("pool_namespace_usage", labels, _value(total))
            if resource in hard:
                yield _line("pool_namespace_usage_percentage", labels, _share(total, hard[resource]))


def _round_sum(total: Quantity, parts: Sequence[Quantity]) -> Quantity:
    """Return the sum as the server's library has it: in 64 bits, with the finest scale of the parts, where these
    are.
    """
    scales = [part.scale for part in parts if part.nano]
    finest = min((scale for scale in scales if scale is not None), default=None)
    if None in scales or finest is None or abs(total.nano) >= 2**63 * 10 ** (9 + finest):
        return total
    return Quantity(total.nano, total.format, finest)


def _exhaustion_lines(pool: ResourcePool) -> Iterator[str]:
    for resource, exhaustion in (pool.status.exhaustions or {}).items():
        both = _read(pool, {"available": exhaustion.available, "requesting": exhaustion.requesting})
        available, requesting = _value(both.get("available", ZERO)), _value(both.get("requesting", ZERO))
        labels = {"pool": pool.metadata.name, "resource": resource}
        yield _line("pool_exhaustion", labels, requesting)
        if 0 < available < requesting:
            yield _line("pool_exhaustion_percentage", labels, (requesting - available) / available * 100)


def _claim_lines(claim: ResourcePoolClaim) -> Iterator[str]:
    """None of a claim that has no status. Source: capsule internal/metrics/claim_recorder.go."""
    meta = claim.metadata
    if not (claim.status.conditions or claim.status.condition):
        return
    labels = {"name": meta.name, "target_namespace": meta.namespace}
    pool = claim.status.pool.name if claim.status.pool else claim.spec.pool
    yield _line("claim_pool", {**labels, "pool": pool}, 1)
    ref = ObjectRef("ResourcePoolClaim", meta.name, meta.namespace)
    for resource, requested in readable(claim.spec.claim, ref, "spec.claim", None).items():
        yield _line("claim_resource", {**labels, "resource": resource}, _value(requested))


def _read(pool: ResourcePool, raw: ResourceList | None) -> dict[str, Quantity]:
    return readable(raw, ObjectRef("ResourcePool", pool.metadata.name), "status", None)


def _value(quantity: Quantity) -> float:
    """Whole units, no finer than thousandths; Capsule's own overflow included."""
    return _milli(quantity) / 1000


def _milli(quantity: Quantity) -> int:
    """Thousandths, as the server's library has them of an amount that was read.

    Of one below zero that is kept in arbitrary precision it takes the low 64 bits of the billionths, though they do not
    fit, and rounds up. Source: apimachinery pkg/api/resource/scale_int.go scaledValue.
    """
    if quantity.scale is not None or quantity.nano >= -(2**63):
        return quantity.milli_value()
    low = (quantity.nano + 2**63) % 2**64 - 2**63
    whole, rest = divmod(abs(low), 10**6)
    return (whole if low >= 0 else -whole) + bool(rest)


def _percentage(part: Quantity, whole: Quantity) -> float:
    limit = _milli(whole)
    return _milli(part) / limit * 100 if limit > 0 else 0


def _share(part: Quantity, whole: Quantity) -> float:
    """As Go divides: by zero, too."""
    claimed, limit = _milli(part), _milli(whole)
    if limit:
        return claimed / limit * 100
    return math.copysign(math.inf, claimed) if claimed else math.nan


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    shown = ",".join(f'{label}="{_escape_text(text)}"' for label, text in sorted(labels.items()))
    return f"capsule_{name}{{{shown}}} {_float(value)}"


def _escape_text(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _float(value: float) -> str:
    """As Go prints the shortest form of a float: ``2.147483648e+09``, ``100000``, ``NaN``."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{value:+}".replace("inf", "Inf")
    number = Decimal(repr(float(value))).normalize()
    power = number.adjusted()
    if not number:
        return "0"
    if _EXPONENT_BELOW <= power < _EXPONENT_FROM:
        return f"{number:f}"
    sign, digits, _ = number.as_tuple()
    first, rest = digits[0], "".join(map(str, digits[1:]))
    return f"{'-' * sign}{first}{'.' * bool(rest)}{rest}e{'-' if power < 0 else '+'}{abs(power):02}"
