"""The short page of every object of the demo that ``explain`` and ``qos`` answer for fits a screen of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kubectl_kres.capsule.reports.explain_tenant import NamespaceShare, TenantExplanation, TenantItem, TenantUse
from kubectl_kres.capsule.text.page import tenant_lines as tenant_page
from kubectl_kres.capsule.text.tenant import tenant_lines
from kubectl_kres.cli.main import entry
from kubectl_kres.model.kinds import KINDS
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import FailedRead
from kubectl_kres.reports.common.system import is_explained, makes_one_pod
from kubectl_kres.snapshot import read as demo
from kubectl_kres.snapshot.read import read

#: Lines at most.
LENGTH = 25


def asked() -> Iterator[tuple[str, str, str]]:
    """Yield kind, namespace and name of every object."""
    store = read(str(demo.demo_path()))
    for kind in filter(is_explained, KINDS):
        for item in store.all(kind.kind):
            yield kind.kind, item.metadata.namespace, item.metadata.name


ASKED = list(asked())


def test_the_demo_has_every_kind_that_pages_differ_for():
    kinds = {kind for kind, _, _ in ASKED}
    assert kinds >= {"Pod", "Deployment", "TaskRun", "PipelineRun", "ResourceQuota", "LimitRange", "Namespace"}
    assert kinds >= {"ResourcePool", "ResourcePoolClaim", "PersistentVolumeClaim", "Service"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", dict.fromkeys(kind for kind, _, _ in ASKED))
def test_every_page_fits_a_screen(kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.argv", ["kubectl-kres"])
    long = {}
    for _, namespace, name in (one for one in ASKED if one[0] == kind):
        where = ["-n", namespace] if namespace else []
        assert entry(["explain", f"{kind.lower()}/{name}", "--demo", *where]) == 0
        lines = capsys.readouterr().out.splitlines()
        if len(lines) > LENGTH:
            long[f"{namespace}/{name}"] = len(lines)
    assert long == {}


@pytest.mark.parametrize("words", ["claims sweep -n ml-training", "claims alice -n ml-notebooks", "pools ml-compute"])
def test_the_pages_of_claims_and_pools_fit_too(words: str, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["kubectl-kres"])
    assert entry([*words.split(), "--demo"]) == 0
    short = capsys.readouterr().out.splitlines()
    assert len(short) <= LENGTH
    assert entry([*words.split(), "--demo", "--all"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > len(short)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("kind", dict.fromkeys(kind.kind for kind in filter(makes_one_pod, KINDS)))
def test_every_page_about_a_class_fits(kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.argv", ["kubectl-kres"])
    long = {}
    for _, namespace, name in (one for one in ASKED if one[0] == kind):
        words = ["qos", f"{kind.lower()}/{name}", "-n", namespace, "--demo"]
        if entry(words):
            assert ": no class, since " in capsys.readouterr().err
            continue
        lines = capsys.readouterr().out.splitlines()
        if len(lines) > LENGTH:
            long[f"{namespace}/{name}"] = len(lines)
        assert entry([*words, "--all"]) == 0
        assert len(capsys.readouterr().out.splitlines()) >= len(lines) - 2, (namespace, name)
    assert long == {}


def test_the_page_of_a_large_tenant_fits():
    uses = tuple(
        TenantUse(
            f"requests.r{at}", "4", "5", "1", "9", "5", tuple(NamespaceShare(f"ns-{n}", "1", "3") for n in range(9))
        )
        for at in range(12)
    )
    items = tuple(TenantItem(number, f"capsule-oil-{number}", uses) for number in range(4))
    unseen = tuple(FailedRead("ResourceQuota", "denied", f"ns-{at}") for at in range(9))
    found = TenantExplanation(
        ObjectRef("Tenant", "oil"), tuple(f"ns-{at}" for at in range(9)), "Tenant", items, unseen, complete=False
    )
    short, whole = list(tenant_page(found, "")), list(tenant_lines(found))
    assert short[0].startswith("over: Tenant/oil: 9 namespaces")
    assert len(short) <= LENGTH < len(whole)
    assert "        and 9 more resources" in short and "        and 2 more quotas" in short
    assert short[-1] == "more    --all: what each namespace uses of each quota"
