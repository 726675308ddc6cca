"""Several reasons of one refusal: each has a line, those too that the server does not come to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.running import Kres

WORLD = """
apiVersion: v1
kind: LimitRange
metadata: {name: defaults, namespace: shop}
spec: {limits: [{type: Container, default: {cpu: 500m}, max: {memory: 4Gi}}]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.memory: 2Gi}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: export, namespace: shop}
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - {name: export, image: x, resources: {requests: {cpu: "CPU", memory: MEMORY}, limits: {memory: LIMIT}}}
"""
CPU = "requests.cpu of export 1 is above its limit 500m"
MAX = "memory of export 6Gi is above the max 4Gi of LimitRange defaults"
QUOTA = "quota team is short by 1Gi of requests.memory"


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (("1", "3Gi", "6Gi"), (CPU, MAX, QUOTA)),
        (("100m", "3Gi", "6Gi"), (MAX, QUOTA)),
        (("1", "1Gi", "4Gi"), (CPU,)),
        (("100m", "1Gi", "6Gi"), (MAX,)),
        (("100m", "3Gi", "4Gi"), (QUOTA,)),
        (("100m", "1Gi", "4Gi"), ()),
    ],
)
def test_each_reason_has_a_line_and_one_stands_in_the_first(
    kres: Kres, tmp_path: Path, values: tuple[str, str, str], told: tuple[str, ...]
):
    text = WORLD.replace("CPU", values[0]).replace("MEMORY", values[1]).replace("LIMIT}", f"{values[2]}}}")
    (tmp_path / "world.yaml").write_text(text)
    words = "explain cronjob/export -f world.yaml --offline --allow-partial"
    first, *lines = kres(words).out.splitlines()
    if len(told) > 1:
        assert first == f"refused, {len(told)} reasons: shop/CronJob/export"
        assert lines[: len(told) + 1] == [*(f"  {reason}" for reason in told), ""]
    elif told:
        assert " ".join([first, lines[0].strip()]).startswith(f"refused: shop/CronJob/export: {told[0]}")
    else:
        assert first.startswith("admitted: ")
    [found] = json.loads(kres(f"{words} -o json").out)["items"]
    further = [(one["rule"], one["source"]["name"]) for one in found.get("further", [])]
    rules = {MAX: ("limitrange/max", "defaults"), QUOTA: ("quota/exceeded", "team")}
    assert further == [rules[reason] for reason in told[1:]]


def test_what_no_server_has_said_it_would_say(kres: Kres, tmp_path: Path):
    (tmp_path / "world.yaml").write_text(WORLD.replace("CPU", "1").replace("MEMORY", "1Gi").replace("LIMIT}", "4Gi}"))
    out = kres("explain cronjob/export -f world.yaml --offline --allow-partial").out
    assert '\nserver  would say: Pod "export" is invalid:' in out
    said = kres("explain deploy/receipts -n checkout --demo").out
    assert '\nserver  pods "receipts" is forbidden: failed quota: cpu-budget' in said


def test_several_kinds_without_permission_have_one_line(kres: Kres, api):
    kinds = {"limitranges", "resourcequotas", "statefulsets", "events", "priorityclasses"}
    api.denied = kinds
    for command in ("overview", "timeline", "check"):
        code, out, err = kres(command)
        assert code == 4
        unread = " ".join(out[out.index("unread  ") :].split())
        assert "(no permission; --all names them)" in unread and "User" not in out
        assert all(kind in unread for kind in ("limitranges", "resourcequotas", "statefulsets"))
        assert "User" not in err and err.count("\n") <= 2
        if command != "check":
            assert err.endswith("\nCheck with: kubectl auth can-i --list -n shop\n")
            assert err.startswith("unread  ")
        whole = kres(f"{command} --all").out
        assert all(f"{kind} is forbidden: User" in " ".join(whole.split()) for kind in ("limitranges", "events"))
    assert "5 unread" in kres("check").out.splitlines()[0]


def test_of_many_possible_answers_the_first_are_written_out(kres: Kres, tmp_path: Path):
    """Each of twenty LimitRanges may be the one that refuses; documents have all."""
    items = [{"type": "Container", "max": {"cpu": str(number)}} for number in range(1, 21)]
    ranges = [
        {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": f"l{index}"}, "spec": {"limits": [item]}}
        for index, item in enumerate(items)
    ]
    container = {"name": "a", "image": "a", "resources": {"limits": {"cpu": "30"}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container]}}
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*ranges, pod]}))
    out = kres(f"explain --offline -f {path}").out
    assert out.count("\nor ") == 9 and "\nor      one of 11 more answers: -o json has all\n" in out
    answers = json.loads(kres(f"explain --offline -f {path} -o json").out)["items"]
    [found] = [item for item in answers if item["subject"]["kind"] == "Pod"]
    assert len(found["verdict"]["others"]) == 19
