"""Which way imports may point: the contracts in pyproject.toml hold, and each one notices a breach."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from architecture.modules import PACKAGE, ROOT

from kubectl_kres.systems import SYSTEMS

#: Contract id to a module, a statement that breaks the contract there, and the import that the complaint names.
BREACHES = {
    "admission": (
        "admission/base/outcome.py",
        "import kubectl_kres.admission.pod.aggregate",
        "admission.base.outcome -> kubectl_kres.admission.pod.aggregate",
    ),
    "tekton": (
        "tekton/model.py",
        "import kubectl_kres.tekton.reports.needs",
        "tekton.model -> kubectl_kres.tekton.reports.needs",
    ),
    "tekton-rules": (
        "tekton/rules/base/variables.py",
        "import kubectl_kres.tekton.rules.pipeline.dag",
        "tekton.rules.base.variables -> kubectl_kres.tekton.rules.pipeline.dag",
    ),
    "scheduling": (
        "scheduling/selectors.py",
        "import kubectl_kres.scheduling.profile",
        "scheduling.selectors -> kubectl_kres.scheduling.profile",
    ),
    "capsule": (
        "capsule/rules/allocation.py",
        "import kubectl_kres.capsule.replay.world",
        "capsule.rules.allocation -> kubectl_kres.capsule.replay.world",
    ),
    "vpa": (
        "vpa/rules/autoscaler.py",
        "import kubectl_kres.vpa.reports.registered_webhook",
        "vpa.rules.autoscaler -> kubectl_kres.vpa.reports.registered_webhook",
    ),
    "vpa-rules": (
        "vpa/rules/autoscaler.py",
        "import kubectl_kres.vpa.rules.capping",
        "vpa.rules.autoscaler -> kubectl_kres.vpa.rules.capping",
    ),
    "kueue": (
        "kueue/model.py",
        "import kubectl_kres.kueue.rules.charge",
        "kueue.model -> kubectl_kres.kueue.rules.charge",
    ),
    "kueue-rules": (
        "kueue/rules/charge.py",
        "import kubectl_kres.kueue.rules.capacity",
        "kueue.rules.charge -> kubectl_kres.kueue.rules.capacity",
    ),
    "cluster": (
        "cluster/credentials.py",
        "import kubectl_kres.cluster.read.lists",
        "cluster.credentials -> kubectl_kres.cluster.read.lists",
    ),
    "cli": (
        "cli/source/object_source.py",
        "import kubectl_kres.cli.main",
        "cli.source.object_source -> kubectl_kres.cli.main",
    ),
    "tui": ("tui/location.py", "import kubectl_kres.tui.app", "tui.location -> kubectl_kres.tui.app"),
    "policies": (
        "policies/cel/base/values.py",
        "import kubectl_kres.policies.rules.change",
        "policies.cel.base.values -> kubectl_kres.policies.rules.change",
    ),
    "cel": (
        "policies/cel/base/types.py",
        "import kubectl_kres.policies.cel.syntax.ast",
        "policies.cel.base.types -> kubectl_kres.policies.cel.syntax.ast",
    ),
    "fleet": (
        "fleet/status.py",
        "import kubectl_kres.fleet.supervisor",
        "fleet.status -> kubectl_kres.fleet.supervisor",
    ),
    "reports": (
        "reports/common/nodes.py",
        "import kubectl_kres.reports.pod.values",
        "reports.common.nodes -> kubectl_kres.reports.pod.values",
    ),
    "capsule-reports": (
        "capsule/reports/common/pool_index.py",
        "import kubectl_kres.capsule.reports.claim.claims",
        "capsule.reports.common.pool_index -> kubectl_kres.capsule.reports.claim.claims",
    ),
    "reports-check": (
        "reports/check/finding.py",
        "import kubectl_kres.reports.check.state",
        "reports.check.finding -> kubectl_kres.reports.check.state",
    ),
    "render": (
        "render/text/line.py",
        "import kubectl_kres.render.pod.explain",
        "render.text.line -> kubectl_kres.render.pod.explain",
    ),
    "api": ("api/clusters.py", "import kubectl_kres.api.live", "api.clusters -> kubectl_kres.api.live"),
    # A folder that no contract names.
    "systems": (
        "further/__init__.py",
        "def late():\n    import kubectl_kres.tekton.reports.taskrun",
        "further -> kubectl_kres.tekton.reports.taskrun",
    ),
    "policing": (
        "reports/remedies/compose.py",
        "import kubectl_kres.policies.reports.remedy",
        "reports.remedies.compose -> kubectl_kres.policies.reports.remedy",
    ),
    "layers": ("quantity.py", "import kubectl_kres.store.store", "quantity -> kubectl_kres.store.store"),
    "pure": ("admission/base/outcome.py", "def late():\n    import os.path", "admission.base.outcome -> os"),
    "reading": ("render/__init__.py", "from kubectl_kres import snapshot", "render -> kubectl_kres.snapshot"),
    "kubernetes": ("cli/__init__.py", "import kubernetes.client", "cli -> kubernetes"),
    "click": ("tui/__init__.py", "import click", "tui -> click"),
    "urllib3": ("manifests/__init__.py", "import urllib3", "manifests -> urllib3"),
    "yaml": ("reports/__init__.py", "import yaml", "reports -> yaml"),
    "pydantic": ("model/__init__.py", "from pydantic import BaseModel", "model -> pydantic"),
    "textual": ("render/verdict/headline.py", "from textual import on", "render.verdict.headline -> textual"),
}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of a copy of the repository."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def contracts() -> dict[str, dict[str, Any]]:
    """The contracts by their ids."""
    found = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return {contract["id"]: contract for contract in found}


def test_every_system_comes_by_the_door_alone():
    door = contracts()["systems"]
    slices = [f"kubectl_kres.{name}" for name in SYSTEMS if name != "policies"]
    assert sorted(door["protected_modules"]) == sorted(slices)
    assert (door["allowed_importers"], door.get("ignore_imports", [])) == ([], [])


def test_the_contracts_hold():
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


def test_each_contract_notices_a_breach(tmp_path: Path):
    names = {key: contract["name"] for key, contract in contracts().items()}
    assert names.keys() == BREACHES.keys()
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    for path, statement, _ in BREACHES.values():
        module = tmp_path / PACKAGE.name / path
        module.parent.mkdir(exist_ok=True)
        with module.open("a") as text:
            text.write(f"\n{statement}\n")
    result = lint(tmp_path)
    assert result.returncode == 1, result.stdout + result.stderr
    complaints = re.split(f"\n({'|'.join(map(re.escape, names.values()))})\n-+\n", result.stdout)
    told = {name: re.sub(r"\s+", " ", text) for name, text in zip(complaints[1::2], complaints[2::2], strict=True)}
    missed = [key for key, (*_, arrow) in BREACHES.items() if f"- kubectl_kres.{arrow} (" not in told[names[key]]]
    assert missed == [], result.stdout
