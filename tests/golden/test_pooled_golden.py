"""Whole answers about pools and claims in every state, byte for byte; KRES_GOLDEN=write rewrites them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
import yaml
from golden.kept import compare
from golden.situation import filled

from kubectl_kres.cli.main import entry
from kubectl_kres.render.text.line import size
from kubectl_kres.snapshot.write import write

HERE = Path(__file__).parent
FOLDER = HERE / "pooled"
#: File to the words behind ``kubectl kres``.
CASES = {
    "pools.txt": "pools",
    "pools-ascii.txt": "pools green --ascii",
    "pool.txt": "pools blue",
    "pool-all.txt": "pools blue --all",
    "pool-by-value.txt": "pools blue --by value",
    "claims.txt": "claims -A",
    "claims-wide.txt": "claims -n solar-prod --pool green -o wide",
    "claims-waiting.txt": "claims --waiting --pool green",
    "claim-exhausted.txt": "claims train",
    "claim-exhausted-all.txt": "claims train --all",
    "claim-queued.txt": "claims late",
    "claim-queued-all.txt": "claims late --all",
    "claim-in-use.txt": "claims web",
    "claim-in-use-all.txt": "claims web --all",
    "claim-failed.txt": "claims gpu gone",
    "claim-failed-all.txt": "claims gpu gone --all",
    "claim-lost.txt": "claims moved rel",
    "claim-lost-all.txt": "claims moved rel --all",
    "sizing.txt": "claims --for deploy/shop -n solar-prod",
    "sizing-brief.txt": "claims --for deploy/shop -n solar-prod -o brief",
    "explain-claim.txt": "explain claim/mem --steps",
    "explain-unassigned.txt": "explain claim/none",
    "explain-unassigned-all.txt": "explain claim/none --all",
    "explain-pool-short.txt": "explain pool/green",
    "explain-claim-short.txt": "explain claim/mem",
    "explain-pool.txt": "explain pool/green --steps",
    "explain-claims.txt": "explain claims",
    "pools.json": "pools green -o json",
    "claims.json": "claims late -o json",
    "explain.json": "explain claim/train -o json",
}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The estate as a snapshot in which every kind was read."""
    path = tmp_path_factory.mktemp("estate") / "estate.kres"
    objects = [*yaml.safe_load_all((HERE / "estate.yaml").read_text()), *yaml.safe_load_all(SHOP)]
    write(filled(objects), str(path))
    return path


SHOP = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, namespace: solar-prod}
spec:
  replicas: 4
  template: {spec: {containers: [{name: app, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}}
"""


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_the_golden_one(name: str, snapshot: Path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["kubectl-kres"])
    assert entry([*shlex.split(CASES[name]), "--snapshot", str(snapshot)]) == 0
    text = capsys.readouterr().out.replace(str(snapshot), "estate.kres")
    compare(FOLDER / name, text)
    if name.endswith(".txt") and "wide" not in name and "brief" not in name:
        # What is to be typed is not broken.
        assert [line for line in text.splitlines() if size(line) > 80 and "kubectl " not in line
                and "explain claims" not in CASES[name]] == []  # fmt: skip


def test_there_are_no_other_golden_files():
    assert {path.name for path in FOLDER.iterdir()} == set(CASES)
