"""The objects that a change leaves behind are those of the end that ``simulate`` tells of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubectl_kres.admission.base.server import Server
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.source.offline import open_held
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.changes.altered_objects import AlteredObjects, altered_objects
from kubectl_kres.reports.changes.compare import compare_sides, report
from kubectl_kres.reports.changes.given_steps import cluster_needs, namespace_needs
from kubectl_kres.simulate.change import Delete, Patch, PlacedStep, ScaleStep, Step
from kubectl_kres.simulate.cluster import ChangeOutcome, current_final_states, simulate_steps
from kubectl_kres.store.store import Store

ML = Path(__file__).parents[1] / "tui" / "ml.kres"
LIMIT = {"containers": [{"name": "app", "resources": {"limits": {"memory": "1Gi"}}}]}
POOL = {"spec": {"quota": {"hard": {"requests.cpu": "20", "requests.memory": "10Gi"}}}}
STEPS: dict[str, tuple[Step, str]] = {
    "some of the pods come": (ScaleStep("Deployment", "pricing", 5), "checkout"),
    "none comes": (ScaleStep("Deployment", "cart", 6), "shop"),
    "some go": (ScaleStep("Deployment", "cart", 1), "shop"),
    "a StatefulSet": (ScaleStep("StatefulSet", "queue", 5), "platform"),
    "a quota lets in what waits": (Patch("ResourceQuota", "best-effort", {"spec": {"hard": {"pods": "6"}}}), "batch"),
    "a rollout gets on": (Patch("ResourceQuota", "team", {"spec": {"hard": {"requests.memory": "8Gi"}}}), "checkout"),
    "a template": (Patch("Deployment", "cart", {"spec": {"template": {"spec": LIMIT}}}), "shop"),
    "a pool": (Patch("ResourcePool", "ml-compute", POOL), ""),
    "a claim": (
        Patch("ResourcePoolClaim", "sweep", {"spec": {"claim": {"requests.cpu": "4", "requests.memory": "2Gi"}}}),
        "ml-training",
    ),
    "something is gone": (Delete("ResourceQuota", "team"), "shop"),
}


@pytest.fixture(scope="module")
def held() -> Store:
    source, _ = open_held(Options(snapshot=str(ML)))
    source.fill([*namespace_needs([""]), *cluster_needs()])
    return source.store


def after(store: Store, step: Step, space: str) -> tuple[AlteredObjects, ChangeOutcome]:
    steps = (PlacedStep(step, space),)
    outcome = simulate_steps(store, steps, Server(), [space] if space else [])
    return altered_objects(store, steps, outcome, report(outcome)), outcome


@pytest.mark.parametrize("name", STEPS)
def test_what_is_left_is_at_rest_where_the_change_ended(held: Store, name: str):
    found, outcome = after(held, *STEPS[name])
    store = held.copied()
    found.apply_to(store)
    again = compare_sides(outcome.after, current_final_states(store, Server(), outcome.after.spaces))
    assert (again.workloads, again.quotas, again.claims) == ((), (), ())
    assert found.refs


def names(store: Store, space: str, start: str) -> list[str]:
    return [pod.metadata.name for pod in store.all("Pod", space) if pod.metadata.name.startswith(start)]


def test_pods_come_and_go_and_the_store_that_was_read_stays(held: Store):
    before = names(held, "checkout", "pricing")
    store = held.copied()
    after(held, ScaleStep("Deployment", "pricing", 5), "checkout")[0].apply_to(store)
    assert names(store, "checkout", "pricing") == [*before, "pricing-54fc59fd48-what-if-1"]
    after(held, ScaleStep("Deployment", "cart", 1), "shop")[0].apply_to(store)
    assert len(names(store, "shop", "cart")) == 1
    assert names(held, "checkout", "pricing") == before
    new: Any = store.get("Pod", "pricing-54fc59fd48-what-if-1", "checkout")
    # The LimitRange's default of now, not that of the pods which are older.
    assert new.spec.containers[0].resources.requests["memory"] == "320Mi"
    quota: Any = store.get("ResourceQuota", "team", "checkout")
    assert quota.status.used["requests.memory"] == "2880Mi"


def test_a_step_that_is_refused_alters_nothing(held: Store):
    wrong = {"containers": [{"name": "app", "resources": {"requests": {"memory": "9Gi"}, "limits": {"memory": "1Gi"}}}]}
    step = Patch("Deployment", "cart", {"spec": {"template": {"spec": wrong}}})
    found, outcome = after(held, step, "shop")
    assert outcome.sent[0].is_refused
    assert ObjectRef("Deployment", "cart", "shop") not in found.refs
