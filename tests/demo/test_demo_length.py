"""The short page of every object of the demo that ``explain`` explains fits a screen of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kubectl_kres.cli.main import entry
from kubectl_kres.model.kinds import KINDS
from kubectl_kres.reports.common.system import is_explained
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
