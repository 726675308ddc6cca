"""Every command about a world of hostile texts: nothing that a terminal obeys, no line of its own, sound documents."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hostile.hostile_world import World, admitting
from hostile.test_hostile_text import BAD

from kubectl_kres.cli.main import entry
from kubectl_kres.snapshot.read import demo_path

#: Behind every name, with what would begin a line of its own. Without a slash, so that names can be typed.
TEXTS = {
    "escapes": "\x1b[31mred\x1b]0;title\x07\x9b2J\r\t[red]x[link=file:]%s{0}$HOME`id`",
    "lines": "\nerror: [b]forged[]\u202e\u2028\x00",
    "long": "n" * 2_500,
}
OBEYED = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
LISTS = (
    *("pods", "deploy", "sts", "ds", "jobs", "cronjobs", "rs", "rc"),
    *("taskruns", "pipelineruns", "tasks", "pipelines", "vpa", "quota", "limits", "ns", "tenants"),
)
OUTPUTS = {"explain": ("text", "wide", "brief", "json", "yaml", "describe", "custom-columns=N:.subject.name")}
CODES = frozenset(range(5))


def commands(world: World, folder: Path) -> Iterator[list[str]]:
    """Without the source."""
    called, text = world.called, world.text
    yield from (["explain", kind, "-A"] for kind in LISTS)
    shop = ["-n", called("shop")]
    for name in ("checkout/deploy/checkout", "payments/deploy/gateway", "ci/taskrun/integration-12"):
        space, kind, own = name.split("/")
        place, target = ["-n", called(space)], f"{kind}/{called(own)}"
        yield from (["explain", target, "--steps", "--all", *place], ["diff", target, *place], ["qos", target, *place])
        yield from (["quota", "--fit", target, *place], ["simulate", "--scale", f"{target}=9", *place])
        yield from (["explain", target, "-c", text, *place], ["explain", target, "-n", text])
    vpa = ["-n", called("payments")]
    yield from (
        ["explain", f"vpa/{called('gateway')}", *vpa],
        ["simulate", "--evict", f"vpa/{called('gateway')}", *vpa],
    )
    yield ["simulate", "--set", f"node/{called('node-1')}:spec.unschedulable=true", *shop]
    yield ["simulate", "--delete", f"node/{called('node-1')}", *shop]
    container = {"name": text, "image": text, "resources": {"requests": {text: text}}}
    template = {"metadata": {"labels": {"a": text}}, "spec": {"containers": [container]}}
    made = {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": f"made{text}", "namespace": called("shop")},
            "spec": {"selector": {"matchLabels": {"a": text}}, "template": template}}  # fmt: skip
    file = folder / "made.json"
    file.write_text("\n---\n".join(map(json.dumps, (made, *admitting(text)))))
    yield from ([command, "-f", str(file)] for command in ("explain", "diff", "check", "simulate"))
    for command in ("overview", "quota", "check", "qos", "timeline", "claims", "quota --recount --by workload",
                    "quota --by value", "quota --denied", "qos --summary", "qos --open"):  # fmt: skip
        yield [*command.split(), "-A"]
    yield from (["pools"], ["pools", "--by", "value"], ["pools", text], ["quota", text], ["claims", text])


def outputs(words: list[str]) -> tuple[str, ...]:
    """What the command prints in; sarif is what check alone has."""
    if words[0] == "explain" and words[-1] == "-A":
        return ("text", "json")
    return OUTPUTS.get(words[0], ("text", "wide", "json", "yaml", *(("sarif",) if words[0] == "check" else ())))


def problem(code: int, out: str, err: str, output: str) -> Any:
    """What is wrong with a run; None: nothing."""
    if code not in CODES or "Traceback" in err:
        return code, err[-1500:]
    for line in (*out.split("\n"), *err.split("\n")):
        if {unicodedata.category(character) for character in line} & BAD or OBEYED.search(line):
            return ascii(line[:200])
        if line.startswith("error: [b]forged"):
            return "a line of its own", ascii(err[:300])
    if out and code in {0, 1}:
        if output in {"json", "sarif"}:
            json.loads(out)
        if output == "yaml":
            list(yaml.load_all(out, yaml.CSafeLoader))
    return None


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("text", "everything"),
    [*((text, False) for text in TEXTS.values()), (TEXTS["lines"], True)],
    ids=[*TEXTS, "reasons"],
)
def test_no_command_lets_a_text_through(
    text: str,
    everything: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    world = World(text, everything=everything)
    file = tmp_path / "world.kres"
    file.write_bytes(world.snapshot())
    wrong, answered = [], 0
    for words in commands(world, tmp_path):
        for output in outputs(words):
            flags = [] if output == "text" else ["-o", output]
            monkeypatch.setattr(sys, "argv", ["kubectl-kres", *words, "--snapshot", str(file), *flags])
            code = entry()
            found = problem(code, *capsys.readouterr(), output)
            answered += code in {0, 1, 4}
            if found is not None:
                wrong.append(([ascii(word)[:50] for word in words], output, found))
    assert wrong == [], "\n".join(map(str, wrong[:10]))
    assert answered > 100


@pytest.mark.thorough
def test_fleet_over_hostile_snapshots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    for name in ("escapes", "lines"):
        (tmp_path / f"{name}.kres").write_bytes(World(TEXTS[name]).snapshot())
    for report in ("qos", "quota", "overview", "check", "claims"):
        for output in ("table", "json"):
            words = ["fleet", report, "--snapshots", str(tmp_path), "-o", output]
            monkeypatch.setattr(sys, "argv", ["kubectl-kres", *words])
            assert problem(entry(), *capsys.readouterr(), output) is None, (report, output)


def test_the_world_without_a_text_is_the_demo() -> None:
    """That what is said of it is not for how it is written."""
    pages = [json.loads(page) for page in demo_path().read_bytes().splitlines()[1:-1]]
    world = World("")
    assert [page["kind"] for page in world.pages] == [page["kind"] for page in pages]
    assert "checkout" in world.known and world.called("checkout") == "checkout"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("where", ["spec", "status"])
def test_a_pod_that_no_server_stores_is_told_of_in_one_line(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A quantity that does not parse, of what a pod asks for or was promised: never a bug, never a whole answer."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    world = World("")
    for page in world.pages:
        for item in page["items"] if page["kind"] == "Pod" else ():
            for container in item["spec"]["containers"] if where == "spec" else ():
                container["resources"] = {"requests": {"cpu": "bad!"}}
            for status in item["status"].get("containerStatuses", ()) if where == "status" else ():
                status["allocatedResources"] = {"cpu": "bad!"}
    file = tmp_path / "world.kres"
    file.write_bytes(world.snapshot())
    for words in ("explain pods -A -o json", "check -A", "simulate --scale deploy/cart=9 -n shop", "overview -A",
                  "qos -A --summary"):  # fmt: skip
        monkeypatch.setattr(sys, "argv", ["kubectl-kres", *words.split(), "--snapshot", str(file)])
        assert entry() == 4, words
        err = capsys.readouterr().err
        assert "Traceback" not in err and re.search(r"^error: (left out, |the answer is given without)", err), err
