"""What becomes of a fix whose object Argo CD or Flux applies: said by what they say of themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from cli.running import Kres
from gitops.worlds import TRACKED, application, automated, labelled, mall, of_flux, snapshot, store_of
from golden.kept import compare

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.store.store import Coverage, ReadRequest

HERE = Path(__file__).parent / "pages"
WEB = Subject(ObjectRef("Deployment", "web", "mall"), BY_KIND["Deployment"])
KUSTOMIZED, RELEASED = labelled("kustomize", "apps"), labelled("helm", "web")
ABSENT = Coverage("absent", "the server has no applications.argoproj.io")
DENIED = Coverage("denied", code=403, reason="Forbidden", message="forbidden")
IGNORING = application(ignoreDifferences=[{"group": "apps", "kind": "Deployment"}])
ELSEWHERE = {"annotations": {"argocd.argoproj.io/tracking-id": "teams_shop:apps/Deployment:mall/web"}}
BY_LABEL = {
    "labels": {"app.kubernetes.io/instance": "shop"},
    "managedFields": [{"manager": "argocd-controller", "operation": "Apply"}],
}
#: By name: the Deployment's metadata, what applies it, and what is said of a patch: state, when, within, reason.
CASES: dict[str, tuple[Any, tuple[Any, ...], tuple[str, str, str, str]]] = {
    "self-heal": (TRACKED, (automated(selfHeal=True),), ("undone", "self-heal", "", "")),
    "by label": (BY_LABEL, (automated(selfHeal=True),), ("undone", "self-heal", "", "")),
    "automated": (TRACKED, (automated(),), ("undone", "next-sync", "", "")),
    "self-heal of no automation": (
        TRACKED,
        (automated(selfHeal=True, enabled=False),),
        ("undone", "next-sync", "", ""),
    ),
    "by hand": (TRACKED, (application(),), ("undone", "next-sync", "", "")),
    "another namespace": (
        ELSEWHERE,
        (application("teams"), automated(selfHeal=True)),
        ("undone", "next-sync", "", ""),
    ),
    "ignores": (TRACKED, (IGNORING,), ("unknown", "", "", "ignores")),
    "several": (TRACKED, (application(), application("other")), ("unknown", "", "", "several")),
    "one of several": (
        TRACKED,
        (application(), application("other", destination={"namespace": "mall"})),
        ("undone", "next-sync", "", ""),
    ),
    "gone": (TRACKED, (), ("unknown", "", "", "read")),
    "kustomization": (
        KUSTOMIZED,
        (of_flux("Kustomization", "apps", interval="10m"),),
        ("undone", "interval", "10m", ""),
    ),
    "suspended": (
        KUSTOMIZED,
        (of_flux("Kustomization", "apps", interval="10m", suspend=True),),
        ("undone", "resumed", "", ""),
    ),
    "left alone": (
        labelled("kustomize", "apps", reconcile="disabled"),
        (of_flux("Kustomization", "apps", interval="10m"),),
        ("stays", "", "", ""),
    ),
    "release": (RELEASED, (of_flux("HelmRelease", "web", interval="5m"),), ("undone", "next-release", "", "")),
    "drift is corrected": (
        RELEASED,
        (of_flux("HelmRelease", "web", interval="5m", driftDetection={"mode": "enabled"}),),
        ("undone", "interval", "5m", ""),
    ),
    "drift is told": (
        RELEASED,
        (of_flux("HelmRelease", "web", interval="5m", driftDetection={"mode": "warn"}),),
        ("undone", "next-release", "", ""),
    ),
}


def fixes(kres: Kres, file: str) -> list[Any]:
    found = kres("explain", "deploy/web", "-n", "mall", "--snapshot", file, "-o", "json")
    document = msgspec.json.decode(found.out)
    return document["items"][0]["fixes"] if "items" in document else document["fixes"]


@pytest.mark.parametrize("name", CASES)
def test_a_fix_says_what_becomes_of_it(kres: Kres, name: str):
    metadata, keepers, (state, when, within, reason) = CASES[name]
    raised, *lowered = fixes(kres, snapshot(mall(metadata, *keepers)))
    assert raised["stays"] == {"state": "stays"}
    assert raised["commands"]
    assert lowered
    for fix in lowered:
        told = fix["stays"]
        assert (told["state"], told.get("when", ""), told.get("within", ""), told.get("reason", "")) == (
            state,
            when,
            within,
            reason,
        )
        assert bool(fix["commands"]) is (state == "stays")


@pytest.mark.parametrize(("coverage", "reason"), [(DENIED, "denied"), (ABSENT, "absent")])
def test_what_could_not_be_read_is_not_known(kres: Kres, coverage: Coverage, reason: str):
    _, *lowered = fixes(kres, snapshot(mall(TRACKED), Application=coverage))
    assert {(fix["stays"]["state"], fix["stays"]["reason"]) for fix in lowered} == {("unknown", reason)}


PAGES = {
    "self-heal": mall(TRACKED, automated(selfHeal=True)),
    "next-sync": mall(TRACKED, application()),
    "flux": mall(KUSTOMIZED, of_flux("Kustomization", "apps", interval="10m")),
}


@pytest.mark.parametrize("name", PAGES)
def test_page(kres: Kres, name: str):
    found = kres("explain", "deploy/web", "-n", "mall", "--snapshot", snapshot(PAGES[name]))
    assert found.err == ""
    compare(HERE / f"{name}.txt", found.out)


def keepers_read(objects: list[Any]) -> list[ReadRequest]:
    kinds = {"Application", "Kustomization", "HelmRelease"}
    return [read for read in list_read_requests(store_of(objects), WEB) if read.kind in kinds]


def test_only_the_one_that_applies_it_is_read():
    assert keepers_read(mall(TRACKED)) == [
        ReadRequest("Application", field_selector="metadata.name=shop", required=False)
    ]
    assert keepers_read(mall(ELSEWHERE)) == [ReadRequest("Application", "teams", "shop", required=False)]
    assert keepers_read(mall(KUSTOMIZED)) == [ReadRequest("Kustomization", "flux-system", "apps", required=False)]
    assert keepers_read(mall(RELEASED)) == [ReadRequest("HelmRelease", "flux-system", "web", required=False)]


def test_nothing_is_read_for_what_nobody_applies_or_what_has_its_pods():
    assert keepers_read(mall({})) == []
    assert keepers_read(mall({**TRACKED}, existing=2)) == []
