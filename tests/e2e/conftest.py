"""Real control planes for end-to-end tests, a namespace in one, and the environment that finds the plugin."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts" / "demo"))
sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
sys.path.insert(0, str(Path(__file__).parents[1] / "controlplane"))

import build
import crds
import make_demo
from controlplane import BASIC_CONTROLLERS, WORKLOAD_CONTROLLERS, ControlPlane
from e2e import audit
from e2e.limiting import GATES, Limiting, write_config
from e2e.plugin import Kres, environment, plugin
from e2e.seed import COUNTS
from kube import Kube

FALSE = ("", "0", "false")
WORKLOADS = (*BASIC_CONTROLLERS, *WORKLOAD_CONTROLLERS, "replicationcontroller-controller")

#: Many namespaces get quotas at once, and no recount comes into a comparison.
STILL = ("--kube-api-qps=200", "--kube-api-burst=400", "--resource-quota-sync-period=24h")
#: The demo's pods end and shrink, which a recount tells its quotas.
LIVELY = ("--kube-api-qps=200", "--kube-api-burst=400", "--resource-quota-sync-period=1s")


@pytest.fixture(scope="session")
def assets() -> Path:
    """The folder of the binaries, else a skip that says why there is none; in CI that is a failure.

    KRES_NO_CONTROLPLANE: why ``make test`` could not build them.
    """
    try:
        return build.locate()
    except build.NoBinaryError as error:
        reason = f"no control plane: {os.environ.get('KRES_NO_CONTROLPLANE') or error}"
    if any(os.environ.get(name, "").lower() not in FALSE for name in ("CI", "KRES_REQUIRE_CONTROLPLANE")):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@contextmanager
def watched(assets: Path, folder: Path, **options: Any) -> Iterator[ControlPlane]:
    """A control plane that notes who asked for what; what the plugin asked for is judged in the end."""
    with ControlPlane(assets, apiserver_args=audit.arguments(folder), **options) as plane:
        yield plane
    assert audit.forbidden(folder) == []


@pytest.fixture(scope="session")
def controlplane(assets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """One control plane for all tests, without scheduler and kubelet; workload controllers make pods."""
    with watched(assets, tmp_path_factory.mktemp("audit"), controllers=WORKLOADS, controller_args=STILL) as plane:
        yield plane


@pytest.fixture(scope="session")
def demo(assets: Path, kubectl: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane on which the demo was played; the controllers have gone, so that nothing changes any more."""
    with watched(assets, tmp_path_factory.mktemp("audit"), controllers=WORKLOADS, controller_args=LIVELY) as plane:
        with Kube(kubectl, plane.kubeconfig) as kube:
            make_demo.apply_all(kube)
        with plane.processes.pop("kube-controller-manager") as controllers:
            controllers.stdin.close()
        yield plane


@pytest.fixture(scope="session")
def limiting(assets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limiting]:
    """A control plane that allows some resources only under a quota, and knows no pod-level resources."""
    folder = tmp_path_factory.mktemp("limiting")
    config = write_config(folder)
    options = {"controllers": WORKLOADS, "admission_config": config, "feature_gates": GATES}
    with watched(assets, folder, **options) as plane:
        yield Limiting(plane, config, GATES)


@pytest.fixture(scope="session")
def extended(assets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane that serves the kinds of Capsule and Tekton; none of their controllers and webhooks runs."""
    folder = tmp_path_factory.mktemp("audit")
    with watched(assets, folder, controllers=BASIC_CONTROLLERS, controller_args=STILL) as plane:
        crds.install(plane)
        yield plane


@pytest.fixture
def extended_kres(extended: ControlPlane, kubectl: Path, tmp_path: Path) -> Kres:
    """The plugin on the control plane with Capsule's and Tekton's kinds."""
    return plugin(kubectl, environment(extended.kubeconfig, kubectl, tmp_path), tmp_path)


@pytest.fixture
def namespace(controlplane: ControlPlane) -> str:
    """Name of a fresh namespace."""
    name = f"test-{secrets.token_hex(4)}"
    status, answer = controlplane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    assert status == 201, answer
    return name


@pytest.fixture(scope="session")
def kubectl(assets: Path) -> Path:
    """The real kubectl: the one on PATH, else the built one."""
    return build.kubectl(assets)


@pytest.fixture
def plugin_env(controlplane: ControlPlane, kubectl: Path, tmp_path: Path) -> dict[str, str]:
    """An environment where kubectl finds kubectl-kres and both find the control plane, but nothing of the user's."""
    return environment(controlplane.kubeconfig, kubectl, tmp_path)


@pytest.fixture
def kres(kubectl: Path, plugin_env: dict[str, str], tmp_path: Path) -> Kres:
    """The plugin on the control plane."""
    return plugin(kubectl, plugin_env, tmp_path)


@pytest.fixture
def demo_kres(demo: ControlPlane, kubectl: Path, tmp_path: Path) -> Kres:
    """The plugin on the demo's control plane."""
    return plugin(kubectl, environment(demo.kubeconfig, kubectl, tmp_path), tmp_path)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """What the generated objects were, and the seed that makes them again."""
    for line in config.stash.get(COUNTS, ()):
        terminalreporter.write_line(line)
