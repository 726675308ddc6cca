"""Autoscalers and Tekton's objects with hostile texts in any field: no command and no tool lets one through.

KRES_FUZZ: how many worlds are tried; without it a fixed number. KRES_FUZZ_SEED: the first one.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hostile.random_objects import places
from hostile.test_hostile_commands import OBEYED, problem
from hostile.test_hostile_text import HOSTILE
from hostile.test_random_snapshots import demo_pages, of_pages

from kubectl_kres import api
from kubectl_kres.cli.main import entry
from kubectl_kres.errors import KresError
from kubectl_kres.mcp.tools import LIMIT, answer_tool, text_of

COUNT = int(os.environ.get("KRES_FUZZ", "") or 12)
FIRST = int(os.environ.get("KRES_FUZZ_SEED", "") or 0)
KINDS = ("VerticalPodAutoscaler", "TaskRun", "PipelineRun", "Task", "Pipeline", "ConfigMap")
TEXTS = (
    *(text for name, text in HOSTILE.items() if name != "surrogate"),
    *("[/red]", "[@click=app.quit]x[/]", "$(params.x)", "{{ x }}", "\nerror: [b]forged[]", "", " ", "\x00", "\ufeff"),
    *("n" * 70_000, "- " * 2_000, "a: &a [*a, *a]", "[" * 3_000, "{x: " * 500, "1e999", "9" * 400),
)
COMMANDS = (
    *("explain taskruns -A", "explain pipelineruns,tasks,pipelines -A", "explain vpa/gateway -n payments"),
    *("explain taskrun/build-api-9c4f -n ci", "explain pipelinerun/release-42 -n ci --all", "explain vpa -A"),
    *("explain deploy/gateway -n payments --all", "simulate --evict vpa/gateway -n payments", "check -A"),
    *(
        "overview -A",
        "overview -n ci",
        "timeline -n ci",
        "diff taskrun/build-api-9c4f -n ci",
        "explain pipeline/release -n ci",
    ),
    *("quota --fit taskrun/build-api-9c4f -n ci", "qos taskrun/build-api-9c4f -n ci", "quota -n ci --by workload"),
)
TOOLS: tuple[tuple[str, dict[str, str]], ...] = (
    ("overview", {}),
    ("overview", {"namespace": "ci"}),
    ("explain", {"namespace": "ci", "object": "taskrun/build-api-9c4f"}),
    ("explain", {"namespace": "payments", "object": "vpa/gateway"}),
    ("check", {"namespace": "ci"}),
    ("check", {"namespace": "payments"}),
    ("fit", {"namespace": "ci", "object": "taskrun/build-api-9c4f"}),
)


def tainted(random: Random) -> bytes:
    """The demo with a text in up to six places of objects of these kinds: as a value, behind one, or as a key."""
    pages = demo_pages()
    chosen = [at for at, page in enumerate(pages) if page["kind"] in KINDS and page["items"]]
    for _ in range(random.randint(1, 6)):
        item = random.choice(pages[random.choice(chosen)]["items"])
        taint(random, item)
    return of_pages(pages, chosen)


def taint(random: Random, item: dict[str, Any]) -> None:
    text = random.choice(TEXTS)
    container, key = random.choice([*places(item)])
    value = container[key]
    if isinstance(container, dict) and random.random() < 0.25:
        container[text] = container.pop(key)
    elif isinstance(value, str):
        container[key] = value + text if random.random() < 0.4 else text
    elif random.random() < 0.3:
        container[key] = text


def test_no_text_of_an_autoscaler_or_a_run_is_let_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    file, wrong, ended = tmp_path / "world.kres", [], set()
    for seed in range(FIRST, FIRST + COUNT):
        random = Random(seed)
        file.write_bytes(tainted(random))
        command, output = random.choice(COMMANDS), random.choice(("text", "text", "json", "yaml"))
        flags = [] if output == "text" else ["-o", output]
        monkeypatch.setattr(sys, "argv", ["kubectl-kres", *command.split(), "--snapshot", str(file), *flags])
        code = entry()
        ended.add(code)
        found = problem(code, *capsys.readouterr(), output)
        if found is None:
            found = tool_problem(random, file)
        if found is not None:
            wrong.append((seed, command, output, found))
    assert wrong == [], "\n".join(map(str, wrong[:10]))
    assert 0 in ended


def tool_problem(random: Random, file: Path) -> Any:
    """What is wrong with the answer of a tool about the same world; None: nothing."""
    name, given = random.choice(TOOLS)
    try:
        world = api.open_snapshot(str(file))
        said = text_of(answer_tool(name, {"context": "demo", **given}, lambda _context: world, ("demo",)))
    except KresError as error:
        return None if "\n" not in error.message and not OBEYED.search(error.message) else (name, error.message)
    except Exception as error:  # noqa: BLE001, that is what is looked for
        return name, given, repr(error)
    if len(json.dumps(said)) > LIMIT or any(ord(character) < 32 for character in said.replace("\n", "")):
        return name, given, len(said), ascii(said[:300])
    return None


def test_no_text_of_a_file_is_let_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    groups = {"VerticalPodAutoscaler": "autoscaling.k8s.io/v1", "ConfigMap": "v1"}
    items = [
        {"apiVersion": groups.get(page["kind"], "tekton.dev/v1"), "kind": page["kind"], **item}
        for page in demo_pages() if page["kind"] in KINDS for item in page["items"]
    ]  # fmt: skip
    file, wrong = tmp_path / "objects.json", []
    for seed in range(FIRST, FIRST + COUNT):
        random = Random(seed)
        given = [json.loads(json.dumps(random.choice(items))) for _ in range(random.randint(1, 3))]
        for item in given:
            taint(random, item)
        file.write_text("\n---\n".join(map(json.dumps, given)))
        command, output = (
            random.choice(("explain", "check", "diff", "simulate")),
            random.choice(("text", "json", "yaml")),
        )
        flags = [] if output == "text" else ["-o", output]
        where = random.choice(("--demo", "--offline"))
        monkeypatch.setattr(sys, "argv", ["kubectl-kres", command, where, "-f", str(file), *flags])
        found = problem(entry(), *capsys.readouterr(), output)
        if found is not None:
            wrong.append((seed, command, output, where, found))
    assert wrong == [], "\n".join(map(str, wrong[:10]))
