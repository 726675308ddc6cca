"""The plugin as a process under the real kubectl: its JSON says what the API server answers to a dry run."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from conformance.compare import differences
from controlplane import ControlPlane
from e2e.asking import Asking, answer
from e2e.differential import Run
from e2e.generate import CLASSES, Setting, settings
from e2e.plugin import Kres
from e2e.saying import said, unordered
from e2e.seed import SEED

pytestmark = pytest.mark.e2e

#: Random settings differ from those of the run in one process.
SETTINGS = [setting for setting in settings(SEED + 1, count=4) if not setting.global_default]


@pytest.fixture(scope="module")
def run(controlplane: ControlPlane) -> Iterator[Run]:
    """The settings on the server."""
    with Asking(controlplane) as asking:
        found = Run(asking, f"p{secrets.token_hex(3)}")
        for class_ in CLASSES:
            asking.create(class_)
        for setting in SETTINGS:
            found.prepare(setting)
            for object_ in setting.first:
                asking.create(object_, found.namespace(setting))
        found.pass_barrier()
        yield found


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_json_is_the_answer(run: Run, kres: Kres, tmp_path: Path, setting: Setting) -> None:
    namespace = run.namespace(setting)
    pods = [case for case in setting.cases if case["kind"] == "Pod"]
    for pod in pods:
        (tmp_path / f"{pod['metadata']['name']}.json").write_text(json.dumps(pod, ensure_ascii=False))
    explained = kres("explain", "-f", ".", "-n", namespace, "-o", "json")
    assert (explained.returncode, explained.stderr) == (0, "")
    compared = kres("diff", "-f", ".", "-n", namespace, "-o", "json")
    changes = {item["subject"]["name"]: item for item in json.loads(compared.stdout)["items"]}
    assert compared.returncode == int(any(item["changed"] for item in changes.values())), compared.stderr
    items = {item["subject"]["name"]: item for item in json.loads(explained.stdout)["items"]}
    assert set(items) == {pod["metadata"]["name"] for pod in pods} == set(changes)
    wrong = []
    for pod in pods:
        name = pod["metadata"]["name"]
        reply = run.asking.create(pod, namespace, dry=True)
        item, change = items[name], changes[name]
        keys = ["allowed", "code", "reason", "message", "causes", "warnings"]
        if item.get("certain", True):
            keys.append("object")
        real = answer(reply)
        real |= {"message": unordered(real["message"])} if "message" in real else {}
        wrong += [f"{json.dumps(pod)}: {fault}" for fault in differences(real, [*said(item, change["after"])], keys)]
        assert change["verdict"] == item["verdict"]
        assert change["changed"] or reply.status == 201, name
    assert not wrong, "\n".join([f"seed {SEED} (KRES_SEED): {setting.name}", *wrong[:10]])
