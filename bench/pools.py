"""Capsule's tenants, pools and claims with the statuses that its controller writes.

Each pool is for the namespaces of one tenant; every second one has an ordered queue. About half of the claims get what
they ask for, but hardly more than 2,000 of one pool, whose status lists them. Claims come three in a second. A few
never reach a pool: one in 400 names none, names one that is not there, or lost its place.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from allocation import Claim, Pool, mark_used, settle
from kinds import KINDS
from owners import Made
from podspec import TEAMS, WORDS, Specs, add, milli, show
from policies import tenant
from tally import Tally

RATES = {
    "requests.cpu": ("250m", "500m", "1", "2", "4"),
    "requests.memory": ("512Mi", "1Gi", "2Gi", "4Gi", "8Gi"),
    "limits.memory": ("1Gi", "2Gi", "4Gi", "8Gi", "16Gi"),
    "pods": ("5", "10", "20"),
}
MOST_HELD = 2000
BEGAN = 1_790_000_000
STRAY = ("unassigned", "failed", "lost")
READY = {
    "unassigned": ("False", "Failed", "no pool reference was defined"),
    "failed": ("False", "Failed", 'ResourcePool.capsule.clastix.io "gone" not found'),
}
NAMED = {"unassigned": "", "failed": "gone"}


class Pools:
    """Pools and claims, settled; ``managed`` are the quotas that follow from them, by namespace."""

    def __init__(self, k: Specs, tallies: dict[str, Tally], pools: int, claims: int, resources: int) -> None:
        self.k, self.managed, self.stray = k, {}, []
        self.of: dict[str, list[str]] = {}
        for ns in k.ns:
            if tenant(ns) in TEAMS:
                self.of.setdefault(tenant(ns), []).append(ns)
        more = [f"requests.example.com/device-{n:02d}" for n in range(max(0, resources - len(RATES)))]
        self.rates = dict(list(RATES.items())[:resources]) | dict.fromkeys(more, ("1", "2", "4"))
        teams = sorted(self.of)
        self.pools = [self.pool(teams, n) for n in range(pools if teams else 0)]
        self.stray = self.shared(claims if self.pools else 0)
        for pool in self.pools:
            self.limit(pool)
            settle(pool)
            self.manage(pool, tallies)

    def pool(self, teams: list[str], n: int) -> Pool:
        team = teams[n % len(teams)]
        name = f"{team}-shared" + (f"-{n // len(teams) + 1}" if n >= len(teams) else "")
        return Pool(name, self.k.names.uid(), self.of[team], {}, n % 2 == 1)

    def shared(self, claims: int) -> list[tuple[Claim, Pool]]:
        """Deal the claims out to the pools; those that never get there, with the pool that they wanted."""
        r, stray = self.k.r, []
        for n in range(claims):
            pool = r.choice(self.pools)
            names = r.sample(sorted(self.rates), min(len(self.rates), r.randrange(1, 5)))
            amounts = {name: milli(r.choice(self.rates[name])) for name in names}
            claim = Claim(
                r.choice(pool.namespaces), f"{r.choice(WORDS)}-{n:06d}", self.k.names.uid(), BEGAN + n // 3, amounts
            )
            if r.randrange(400) == 0:
                claim.state = STRAY[n % 3]
                stray.append((claim, pool))
            else:
                pool.claims.append(claim)
        return stray

    def limit(self, pool: Pool) -> None:
        """Give a pool more or less what the first half of its claims ask for."""
        sums: dict[str, int] = {}
        for claim in pool.claims[: min(len(pool.claims) // 2, MOST_HELD)]:
            add(sums, claim.amounts)
        for name, rates in self.rates.items():
            unit = milli(rates[0])
            pool.hard[name] = int(sums.get(name, 0) * self.k.r.uniform(0.8, 1.2)) // unit * unit

    def manage(self, pool: Pool, tallies: dict[str, Tally]) -> None:
        """Set what is in use, and make the quotas of the pool's namespaces."""
        held: dict[str, list[Claim]] = {}
        for claim in pool.held:
            held.setdefault(claim.ns, []).append(claim)
        for ns in pool.namespaces:
            sums: dict[str, int] = {}
            for claim in held.get(ns, ()):
                add(sums, claim.amounts)
            mark_used(held.get(ns, []), tallies[ns].used(list(sums)))
            labels = {"projectcapsule.dev/managed-by": "controller", "projectcapsule.dev/pool": pool.name}
            meta = self.k.meta(f"capsule-pool-{pool.name}", ns, labels=labels)
            above = reference(pool) | {"controller": True, "blockOwnerDeletion": True}
            spec = {"hard": written(sums)} if sums else {"hard": {}}
            self.managed.setdefault(ns, []).append({"metadata": meta | {"ownerReferences": [above]}, "spec": spec})
        for each in self.managed.values():
            each.sort(key=lambda one: one["metadata"]["name"])

    def objects(self) -> Iterator[Made]:
        for team in sorted(self.of) if self.pools else ():
            status = {"namespaces": self.of[team], "size": len(self.of[team]), "state": "Active"}
            yield "tenants", {"metadata": self.k.meta(team), "spec": {}, "status": status}
        for pool in sorted(self.pools, key=lambda one: one.name):
            yield "resourcepools", self.pool_object(pool)
        every = [(claim, pool, False) for pool in self.pools for claim in pool.claims]
        every += [(claim, pool, True) for claim, pool in self.stray]
        for claim, pool, stray in sorted(every, key=lambda one: (one[0].ns, one[0].name)):
            yield "resourcepoolclaims", self.claim_object(claim, pool, stray=stray)

    def pool_object(self, pool: Pool) -> dict:
        used = dict.fromkeys(pool.hard, 0)
        claims: dict[str, list[dict]] = {}
        for claim in pool.held:
            add(used, claim.amounts)
            entry = {"name": claim.name, "namespace": claim.ns, "uid": claim.uid, "claims": written(claim.amounts)}
            claims.setdefault(claim.ns, []).append(entry)
        room = {name: hard - used[name] for name, hard in pool.hard.items()}
        full = (
            ("True", "PoolExhausted", "Pool has exhaustions")
            if pool.exhausted
            else ("False", "NoExhaustions", "no exhaustions")
        )
        meta = self.k.meta(pool.name, generation=1, finalizers=["controller.projectcapsule.dev/finalize"])
        exhaustions = {
            name: {key: show(name, value) for key, value in (("available", there), ("requesting", asked)) if value}
            for name, (there, asked) in sorted(pool.exhausted.items())
        }
        return {
            "metadata": meta | {"uid": pool.uid, "creationTimestamp": self.at(BEGAN + 900_000)},
            "spec": {
                "selectors": [{"matchLabels": {"capsule.clastix.io/tenant": tenant(pool.namespaces[0])}}],
                "quota": {"hard": written(pool.hard)},
                "config": {"defaultsZero": False, "deleteBoundResources": False, "orderedQueue": pool.ordered},
            },
            "status": {
                "observedGeneration": 1,
                "namespaces": pool.namespaces,
                "namespaceCount": len(pool.namespaces),
                "claimCount": len(pool.held),
                "allocation": {"hard": written(pool.hard), "used": written(used), "available": written(room)},
                "conditions": [
                    self.condition("Ready", "True", "Succeeded", "reconciled"),
                    self.condition("Exhausted", *full) | {"observedGeneration": 1},
                ],
                **({"claims": claims} if claims else {}),
                **({"exhaustions": exhaustions} if exhaustions else {}),
            },
        }

    def claim_object(self, claim: Claim, pool: Pool, *, stray: bool) -> dict:
        meta = self.k.meta(claim.name, claim.ns, generation=1)
        meta |= {"uid": claim.uid, "creationTimestamp": self.at(claim.created)}
        if claim.state not in READY:
            meta["ownerReferences"] = [reference(pool)]
        ready = READY.get(claim.state, ("True", "Succeeded", "reconciled"))
        status: dict = {"conditions": [self.condition("Ready", *ready)], "observedGeneration": 1}
        if not stray:
            status["pool"] = {"name": pool.name, "uid": pool.uid}
            status["conditions"] += [each | {"observedGeneration": 1} for each in self.outcome(claim)]
        spec = {"pool": NAMED.get(claim.state, pool.name), "claim": written(claim.amounts)}
        return {"metadata": meta, "spec": spec, "status": status}

    def outcome(self, claim: Claim) -> list[dict]:
        """The conditions Exhausted and Bound."""
        bound = {"allocated": ("False", "Unused", "claim is unused"), "in use": ("True", "InUse", "claim is used")}
        reason = {"exhausted": "PoolExhausted", "queued": "QueueExhausted"}.get(claim.state, "NoExhaustions")
        return [
            self.condition("Exhausted", "False" if claim.held else "True", reason, claim.message),
            self.condition("Bound", *bound.get(claim.state, ("False", "Failed", "claim causes exhaustions"))),
        ]

    def condition(self, kind: str, status: str, reason: str, message: str) -> dict:
        when = self.at(BEGAN + 900_000)
        return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": when}

    def at(self, seconds: int) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))

    def truth(self) -> dict:
        """Counts and sums of each pool, and how many claims are in which state."""
        states: Counter[str] = Counter(claim.state for claim, _ in self.stray)
        found = {}
        for pool in sorted(self.pools, key=lambda one: one.name):
            states.update(claim.state for claim in pool.claims)
            used: dict[str, int] = {}
            for claim in pool.held:
                add(used, claim.amounts)
            found[pool.name] = {
                "ordered": pool.ordered,
                "held": len(pool.held),
                "waiting": len(pool.waiting),
                "hard": {name: str(value) for name, value in sorted(pool.hard.items())},
                "used": {name: str(value) for name, value in sorted(used.items())},
            }
        return {"pools": found, "claims": dict(sorted(states.items()))}

    def claims_truth(self) -> dict:
        """For each pool who has something, and who waits, in the order of the queue."""
        return {
            pool.name: {
                "held": [f"{claim.ns}/{claim.name}" for claim in pool.held],
                "waiting": [f"{claim.ns}/{claim.name} {claim.state}" for claim in pool.waiting],
            }
            for pool in self.pools
        }


def written(amounts: dict[str, int]) -> dict[str, str]:
    return {name: show(name, value) for name, value in sorted(amounts.items())}


def reference(pool: Pool) -> dict:
    kind = KINDS["resourcepools"]
    return {"apiVersion": kind.api_version, "kind": kind.kind, "name": pool.name, "uid": pool.uid}
