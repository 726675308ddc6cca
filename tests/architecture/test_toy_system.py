"""A further system is a folder of its own and one line: a toy is added to a copy of the package and asked about."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from architecture.modules import PACKAGE

TOY = Path(__file__).parent / "toy"
LINE = '    "toy": "model catalogue simulation reports checks changes text commands screens",\n'
FILES = """
apiVersion: toy.example.com/v1
kind: Budget
metadata: {name: ours, namespace: default}
spec: {team: blue}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec: {containers: [{name: app, image: app}]}
"""
BUDGET = FILES.partition("---")[0]
WORKLOAD = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: app, image: app}]}
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the toy; the one file that is edited is the table of systems."""
    copy = tmp_path_factory.mktemp("toy") / PACKAGE.name
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for source in sorted(TOY.rglob("*.py")):
        target = copy / source.relative_to(TOY)
        assert not target.exists()
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    table = copy / "systems.py"
    head, start, rest = table.read_text().partition("SYSTEMS: Final = {\n")
    assert start
    table.write_text(head + start + LINE + rest)
    return copy


def run(package: Path, program: str, *words: str, code: int = 0) -> str:
    found = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=package.parent,
        env={**os.environ, "PYTHONPATH": str(package.parent), "KUBECONFIG": os.devnull},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert found.returncode == code, found.stderr
    return found.stdout


KRES = "import sys; from kubectl_kres.cli.start import entry; sys.argv[0] = 'kubectl-kres'; sys.exit(entry())"


def test_nothing_else_changes(package: Path):
    changed = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if not filecmp.cmp(path, package / path.relative_to(PACKAGE), shallow=False)
    ]
    assert changed == ["systems.py"]
    assert all("toy" in path.relative_to(TOY).as_posix() for path in TOY.rglob("*.py"))


def test_its_refusals_and_remedies_are_told(package: Path, tmp_path: Path):
    (tmp_path / "all.yaml").write_text(FILES)
    told = run(package, KRES, "explain", "-f", str(tmp_path / "all.yaml"), "--offline")
    assert "refused, 2 reasons: default/Pod/web\n  budget ours wants the label team=blue\n" in told
    assert "fix     label the pod with team=blue" in told
    assert "toy: its budget decides" in told


def test_its_objects_are_explained_and_have_a_schema(package: Path, tmp_path: Path):
    (tmp_path / "budget.yaml").write_text(BUDGET)
    assert "Budget/ours: pods name team blue" in run(
        package, KRES, "explain", "-f", str(tmp_path / "budget.yaml"), "--offline"
    )
    assert '"BudgetExplanation"' in run(package, KRES, "schema", "explain")


def test_its_kind_is_completed(package: Path):
    assert "budgets\tBudget" in run(package, KRES, "__complete", "explain", "bud")


def test_its_rules_of_check_find_something(package: Path, tmp_path: Path):
    (tmp_path / "all.yaml").write_text(FILES)
    assert "KRES801" not in run(
        package, KRES, "check", "-f", str(tmp_path / "all.yaml"), "--offline", "--fail-on", "never"
    )
    (tmp_path / "all.yaml").write_text(FILES.replace("team: blue", "team: ''"))
    told = run(package, KRES, "check", "-f", str(tmp_path / "all.yaml"), "--offline", code=1)
    assert f"{tmp_path}/all.yaml:5:14: error KRES801 default/Budget/ours\n  it names no team\n" in told
    codes = run(package, KRES, "help", "codes")
    assert "KRES801" in codes
    assert "toy/team" in codes
    ignored = FILES.replace("team: blue", "team: ''").replace(
        "name: ours,", "name: ours, annotations: {kres.dev/ignore: KRES801},"
    )
    (tmp_path / "all.yaml").write_text(ignored)
    assert "KRES903" in run(package, KRES, "check", "-f", str(tmp_path / "all.yaml"), "--offline", code=1)


def test_its_controllers_take_part_in_a_simulation(package: Path, tmp_path: Path):
    budget = BUDGET.replace("team: blue", "team: blue, pods: 2")
    # It is applied first, since its kind comes before workloads.
    (tmp_path / "all.yaml").write_text(f"{WORKLOAD}---{budget}")
    told = run(package, KRES, "simulate", "-f", str(tmp_path / "all.yaml"), "--offline")
    assert "Deployment/shop  new: 2 of 3 pods" in told
    assert "exceeded quota: ours, requested" in told
    assert "Budget/ours  absent -> in force" in told
    assert "a budget counts pods alone" in told
    nameless = budget.replace("team: blue", "team: ''")
    (tmp_path / "all.yaml").write_text(f"{WORKLOAD}---{nameless}")
    told = run(package, KRES, "simulate", "-f", str(tmp_path / "all.yaml"), "--offline", code=1)
    assert "a budget names a team" in told
    assert "Deployment/shop  new: 3 of 3 pods" in told


def test_its_rights_are_listed(package: Path):
    told = run(package, KRES, "version", "--rbac", "explain")
    assert "toy.example.com" in told
    assert "budgets" in told


@pytest.mark.thorough
def test_its_list_is_on_screen(package: Path):
    program = """
from kubectl_kres.tui.lists.list_registry import find, list_names
listing = find("bud")
assert listing is not None and "budgets" in list_names()
print(listing.id)
"""
    assert run(package, program).strip() == "budgets"
