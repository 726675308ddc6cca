"""What is proposed to be typed works as it stands: commands of answers, of screens, and of help."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise

import pytest
from cli.apiserver import Api, deployment
from cli.running import Kres, is_plain

from kubectl_kres.cli.program import commands
from kubectl_kres.snapshot import read as demo

#: Commands that cannot run here: they stay, need a cluster or an earlier answer, write files, or draw a screen.
ELSEWHERE = {
    "-w", "--watch", "--install", "--uninstall", "--out", "--baseline", "-o describe", "-f -", "version", "tui",
    "fleet", "mcp",
}  # fmt: skip
ANSWERS = (
    "explain deployments -A",
    "explain deploy/checkout -n checkout",
    "explain deploy/notebook-hub -n ml-notebooks",
    "explain pool/ml-compute",
    "explain claim/alice -n ml-notebooks",
    "explain pipelinerun/release-41 -n ci",
    "claims -A",
    "claims -A --waiting",
    "claims sweep -n ml-training",
    "claims --for deploy/notebook-hub -n ml-notebooks",
    "pools",
    "quota -A --denied",
    "quota -A --recount --by workload",
    "quota -A --by value",
    "pools --by value",
    "explain tenant/ml --by value",
    "quota --fit deploy/checkout -n checkout",
    "qos pipelinerun/release-41 -n ci",
    "diff pipelinerun/release-41 -n ci",
    "diff pods -A",
    "overview -A",
    "timeline -A",
    "check -A",
)


POD = b"apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: app, image: i}]}\n"
POOL = (
    b"apiVersion: capsule.clastix.io/v1beta2\nkind: ResourcePool\nmetadata: {name: green}\nspec: {quota: {hard: {}}}\n"
)
CLAIM = b"apiVersion: capsule.clastix.io/v1beta2\nkind: ResourcePoolClaim\nmetadata: {name: batch}\nspec: {claim: {}}\n"
#: The files that examples name.
FILES = {
    **dict.fromkeys(("pod.yaml", "run.yaml", "manifests/pod.yaml"), POD),
    "pools.yaml": POOL + b"---\n" + CLAIM,
    "limitrange.yaml": b"apiVersion: v1\nkind: LimitRange\nmetadata: {name: small}\nspec: {limits: []}\n",
    **dict.fromkeys(("chart/pod.yaml", "deploy/pod.yaml"), POD),
    "yesterday.kres": demo.demo_path().read_bytes(),
    "today.kres": demo.demo_path().read_bytes(),
    "config.yaml": b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config-defaults}\n",
    **dict.fromkeys(("prod.kres", "prod.kres.gz"), demo.demo_path().read_bytes()),
}


def proposed(text: str) -> Iterator[str]:
    """What stands behind ``kubectl kres`` up to the end of the line, or of the quotation."""
    yield from (found.strip() for found in re.findall(r"kubectl kres ([^\"\n]+)", text))


def test_what_answers_propose_runs(kres: Kres):
    found = []
    for words in ANSWERS:
        _, out, err = kres(f"{words} --demo")
        found += [(words, one) for one in proposed(out + err) if "usage" not in one]
    assert found
    for words, one in found:
        assert is_plain(one), (words, one)
        asked = shlex.split(one)
        code, _, err = kres("", *asked, *(() if "--demo" in asked or asked[0] == "help" else ("--demo",)))
        assert code in {0, 1}, (words, one, err)


def test_commands_are_the_same_in_sh_bash_and_zsh(kres: Kres):
    """Those of kubectl that make a fix, too; each stands alone on its line, or behind a label."""
    found = []
    for words in ANSWERS:
        _, out, _ = kres(f"{words} --demo")
        found += re.findall(r"^(?: *[a-z0-9 ]{0,7} +)?(kubectl .*)$", out, re.MULTILINE)
    assert len({line.split()[1] for line in found}) > 3
    assert [line for line in found if not is_plain(line)] == []
    assert not is_plain("kubectl kres quota team  # who uses it") and not is_plain("kubectl get pods[0]")


@pytest.mark.parametrize("command", commands())
def test_examples_are_understood(kres: Kres, command: str, tmp_path, monkeypatch):
    """Names are made up, so that they may not be found (3); none is wrong (2)."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    text = kres(f"help {command}").out.partition("Examples:")[2].partition("Flags:")[0].partition('Use "')[0]
    examples = re.findall("(?<!=)kubectl[ -]kres (.+)", re.sub(r"\n {6,}", " ", text))
    assert examples
    for one in examples:
        asked = shlex.split(re.split(" > | [|] ", one)[0])
        # What cannot run here is read all the same: a flag that does not exist is an error before the help.
        elsewhere = ELSEWHERE & {*asked, *map(" ".join, pairwise(asked))}
        code, _, err = kres("", *asked, *(("--help",) if elsewhere else _held(asked)))
        assert code != 2, (one, err)


def _held(asked: list[str]) -> tuple[str, ...]:
    """The bundled example in place of a cluster."""
    if "--from" in asked:
        return ()
    alone = {"--demo", "--offline", "--snapshot", "--client"} & set(asked) or asked[0] in {"schema", "help", "options"}
    return () if alone else ("--demo",)


@pytest.mark.parametrize(
    "words",
    ["check -f big.json", "check", "overview", "overview -o brief", "simulate -f big.json -o brief", "quota -o brief"],
)
def test_what_is_proposed_asks_the_same_source(kres: Kres, tmp_path, monkeypatch, words: str):
    """Of one namespace of a snapshot: each command names both, and runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prod.kres").write_bytes(demo.demo_path().read_bytes())
    (tmp_path / "big.json").write_text(json.dumps(deployment("big", "9Gi", namespace="checkout")))
    _, out, err = kres(f"{words} -n checkout --snapshot prod.kres")
    found = [one for one in proposed(out + err) if not one.startswith("help ")]
    assert found, out
    for one in found:
        assert "--snapshot prod.kres" in one and "-n checkout" in one, (words, one)
        assert kres("", *shlex.split(one)).code in {0, 1}, (words, one)


@pytest.mark.parametrize(
    "words",
    ["overview", "overview -A", "check", "quota --denied", "explain deploy/big", "explain deployments", "timeline"],
)
def test_what_is_proposed_asks_the_context_that_was_asked(kres: Kres, api: Api, words: str):
    hard = {"hard": {"requests.memory": "1Gi"}}
    quota = {"kind": "ResourceQuota", "metadata": {"name": "team", "namespace": "shop"}, "spec": hard}
    api.objects += [{**quota, "status": {**hard, "used": {"requests.memory": "0"}}}, deployment("big", "2Gi")]
    found = kres(f"{words} --context lab")
    proposed = re.findall(r"kubectl kres (?!help )[^\n)]*", found.out + found.err)
    assert proposed or words.partition(" ")[0] in {"timeline", "explain", "quota"}
    assert [line for line in proposed if "--context lab" not in line] == []
