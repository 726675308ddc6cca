"""No face is calm while something wanted waits or fails, on a real scheduler; and none is alarmed by near misses."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import crds
import pytest
from controlplane import ControlPlane
from e2e.conftest import watched
from e2e.plugin import environment
from run_state.plane import CONTROLLERS, add_nodes, settle, space_of
from run_state.waiting import SITUATIONS

from kubectl_kres.cli.main import entry

pytestmark = pytest.mark.e2e

#: What must not be said while something waits or fails.
CALM = re.compile(r"nothing wrong|nothing to change|\bfits? with|more such pods? fits?|missing fit")
#: Kinds that quota --fit answers about.
FITTED = ("pod/", "deployment/", "statefulset/", "daemonset/", "replicaset/", "job/")


@pytest.fixture(scope="module")
def plane(assets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with a scheduler, three nodes and all situations, half a minute old."""
    folder = tmp_path_factory.mktemp("audit")
    options = {"controllers": CONTROLLERS, "disable_admission": (), "scheduler": True}
    with watched(assets, folder, **options, controller_args=("--kube-api-qps=200", "--kube-api-burst=400")) as plane:
        crds.install(plane, "tekton")
        add_nodes(plane)
        settle(plane, SITUATIONS)
        yield plane


class Ended(NamedTuple):
    """A run of the program within this process: a process for each of 600 answers would take ten minutes."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(scope="module")
def answers(plane: ControlPlane, kubectl: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The faults of the answers about each situation."""
    env = environment(plane.kubeconfig, kubectl, tmp_path_factory.mktemp("kres"))
    # What is starting is asked about before it is too old for that.
    order = sorted(SITUATIONS, key=lambda name: SITUATIONS[name].word != "starting")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)

        def kres(*words: str) -> Ended:
            patch.setattr(sys, "argv", ["kubectl-kres", *words])
            with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
                code = entry()
            return Ended(code, out.getvalue(), err.getvalue())

        result = {name: _faults(kres, name) for name in order if SITUATIONS[name].word == "starting"}
        if kept := os.environ.get("KRES_RUN_STATE_SNAPSHOT"):
            kres("snapshot", "-A", "--out", kept)
        return {**result, **{name: _faults(kres, name) for name in order if name not in result}}


def _faults(kres: Callable[..., Ended], name: str) -> list[str]:
    situation, space = SITUATIONS[name], space_of(name)
    subject = situation.subject
    where = ("-n", space, "--allow-partial")
    result = kres("explain", subject, "-o", "json", "--exit-code", *where)
    faults = [] if result.returncode == int(situation.held_up) else [f"explain ended with {result.returncode}"]
    item = json.loads(result.stdout or '{"items": []}')
    report = (item.get("items") or [item])[0]
    state = report.get("runState") or {}
    if (state.get("state"), state.get("reason", "")) != (situation.word, situation.reason):
        return [*faults, f"explain says {state} {result.stderr}"]
    if situation.held_up and not (state.get("next") or report.get("fixes")):
        faults.append("nothing to do next")
    kind = subject.partition("/")[0]
    asked = {
        "brief": ("explain", subject, "-o", "brief", *where),
        "text": ("explain", subject, *where),
        "list": ("explain", kind, "--exit-code", *where),
        "overview": ("overview", "-o", "brief", "--exit-code", *where),
        "check": ("check", *where),
    }
    if subject.startswith(FITTED):
        asked["fit"] = ("quota", "--fit", subject, "--exit-code", *where)
    for face, words in asked.items():
        faults += _fault(face, kres(*words), name)
    return faults


def _fault(face: str, result: Ended, name: str) -> Iterator[str]:
    situation = SITUATIONS[name]
    out, code = result.stdout, result.returncode
    text = " ".join(out.split())
    if code not in {0, 1} or "Traceback" in result.stderr:
        yield f"{face} ended with {code}: {result.stderr}"
    if situation.held_up:
        calm = CALM.search(text)
        if calm is not None:
            yield f"{face} says {calm[0]}: {text}"
        if face in {"list", "overview", "check", "fit"} and code != 1:
            yield f"{face} ended with {code}: {text}"
        if face in {"brief", "list"} and situation.word not in text and "refused" not in text and "blocked" not in text:
            yield f"{face} does not say {situation.word}: {text}"
        if face == "text" and situation.says and situation.says not in text:
            yield f"{face} does not say {situation.says}: {text}"
        return
    if face in {"list", "overview", "check"} and code:
        yield f"{face} is alarmed: {text}"
    if face == "overview" and situation.reason != "OOMKilled" and "nothing wrong" not in text:
        yield f"{face} is alarmed: {text}"
    if face == "brief" and situation.says and situation.says not in text.partition("remedy:")[0]:
        yield f"{face} does not say {situation.says}: {text}"


@pytest.mark.parametrize("name", SITUATIONS)
def test_no_face_is_calm_while_something_waits(answers: dict[str, list[str]], name: str):
    assert answers[name] == [], "\n".join(answers[name])


def test_there_are_enough_situations():
    assert sum(situation.held_up for situation in SITUATIONS.values()) >= 60
