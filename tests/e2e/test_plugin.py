"""The plugin as a process under the real kubectl: its JSON says what the API server answers to a dry run."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e.asking import Asking, answer
from e2e.differential import Run
from e2e.generate import CLASSES, Setting, limited, settings
from e2e.limiting import Limiting
from e2e.plugin import Kres, environment, plugin
from e2e.saying import unlike
from e2e.seed import SEED

pytestmark = pytest.mark.e2e

KEYS = ("allowed", "code", "reason", "message", "causes", "warnings")

#: Random settings differ from those of the run in one process.
SETTINGS = [
    setting
    for setting in settings(SEED + 1, count=4)
    if not setting.global_default and any(case["kind"] == "Pod" for case in setting.cases)
]


@pytest.fixture(scope="module")
def run(controlplane: ControlPlane) -> Iterator[Run]:
    """The settings on the server."""
    with Asking(controlplane) as asking:
        yield built(Run(asking, f"p{secrets.token_hex(3)}"), SETTINGS)


def built(run: Run, settings: Sequence[Setting]) -> Run:
    for class_ in CLASSES:
        run.asking.create(class_)
    for setting in settings:
        run.prepare(setting)
        for object_ in setting.first:
            run.asking.create(object_, run.namespace(setting))
    run.pass_barrier()
    return run


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_json_is_the_answer(run: Run, kres: Kres, tmp_path: Path, setting: Setting) -> None:
    compare(run, kres, tmp_path, setting)


def test_a_server_with_a_configuration(limiting: Limiting, kubectl: Path, tmp_path: Path) -> None:
    """What no client can read of the server, flags say."""
    kres = plugin(kubectl, environment(limiting.plane.kubeconfig, kubectl, tmp_path), tmp_path)
    gates = ",".join(f"{name}={str(on).lower()}" for name, on in limiting.gates.items())
    flags = ("--admission-config", str(limiting.config), "--feature-gates", gates)
    with Asking(limiting.plane) as asking:
        setting = limited()
        compare(built(Run(asking, f"c{secrets.token_hex(3)}"), [setting]), kres, tmp_path, setting, *flags)


def compare(run: Run, kres: Kres, folder: Path, setting: Setting, *flags: str) -> None:
    """Ask about all pods at once, and hold each answer against the server's."""
    pods = {case["metadata"]["name"]: case for case in setting.cases if case["kind"] == "Pod"}
    files = folder / "pods"
    files.mkdir()
    for name, pod in pods.items():
        (files / f"{name}.json").write_text(json.dumps(pod, ensure_ascii=False))
    words = ("-f", str(files), "-n", run.namespace(setting), "-o", "json", *flags)
    explained, compared = kres("explain", *words), kres("diff", *words)
    assert (explained.returncode, explained.stderr) == (0, "")
    items, changes = (by_name(done.stdout) for done in (explained, compared))
    assert compared.returncode == int(any(change["changed"] for change in changes.values())), compared.stderr
    assert set(items) == set(changes) == set(pods)
    wrong = []
    for name, pod in pods.items():
        reply = run.asking.create(pod, run.namespace(setting), dry=True, strict=True)
        item, change = items[name], changes[name]
        keys = (*KEYS, "object") if item.get("certain", True) else KEYS
        wrong += [f"{json.dumps(pod)}: {fault}" for fault in unlike(answer(reply), item, change["after"], keys)]
        assert change["verdict"] == item["verdict"]
        assert change["changed"] or reply.status == 201, name
    assert not wrong, "\n".join([f"seed {SEED} (KRES_SEED): {setting.name}", *wrong[:10]])


def by_name(text: str) -> dict[str, dict[str, Any]]:
    items = json.loads(text)["items"]
    return {item["subject"]["name"]: item for item in items if item["subject"]["kind"] != "Files"}


ADMITTED = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}
REFUSED = {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}


@pytest.mark.parametrize(
    ("words", "resources", "code"),
    [
        (("explain",), ADMITTED, 0),
        (("explain",), REFUSED, 0),
        (("explain", "--exit-code"), ADMITTED, 0),
        (("explain", "--exit-code"), REFUSED, 1),
        (("explain", "-o", "table"), ADMITTED, 2),
        (("explain", "--server", "https://127.0.0.1:1"), ADMITTED, 3),
        (("diff",), REFUSED, 1),
        (("diff",), {"limits": {"cpu": "1"}}, 1),
    ],
)
def test_exit_codes(
    kres: Kres, namespace: str, tmp_path: Path, words: tuple[str, ...], resources: Any, code: int
) -> None:
    spec = {"containers": [{"name": "c", "image": "i", "resources": resources}]}
    file = tmp_path / "pod.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}))
    done = kres(*words, "-f", str(file), "-n", namespace)
    assert done.returncode == code, done.stderr


def test_no_difference_ends_with_0(kres: Kres, controlplane: ControlPlane, namespace: str) -> None:
    """A live pod that would be the same today."""
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i", "resources": ADMITTED}]}}
    assert controlplane.request("POST", f"/api/v1/namespaces/{namespace}/pods", pod)[0] == 201
    done = kres("diff", "pod/p", "-n", namespace)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
