"""``kubectl kres timeline``."""

from __future__ import annotations

import json

import pytest
from cli.running import Kres


def test_of_a_namespace_of_the_example(kres: Kres):
    code, out, err = kres("timeline --demo -n checkout --all")
    assert (code, err) == (0, "")
    first, empty, *lines = out.splitlines()
    assert (first, empty) == ("timeline of namespace checkout: 12 entries in the last 2m, 3 wrong", "")
    assert lines[0].split() == ["AGE", "REASON", "OBJECT", "WHAT", "HAPPENED"]
    assert lines[1].startswith("x ") and lines[1].split()[2:] == ["FailedCreate", "Deployment/receipts"]
    assert any("LimitRange/bounds" in line for line in lines)
    assert "      spec.limits by kubectl-edit (Update)" in lines or "spec.limits by kubectl-edit (Update)" in out
    assert "shop/" not in out and "ml-compute" not in out
    assert max(map(len, lines)) <= 80


def test_of_all_namespaces_names_them(kres: Kres):
    out = kres("timeline --demo -A --all").out
    assert "checkout/Deployment/receipts" in out and "ml-training/ResourcePoolClaim/sweep" in out


def test_without_all_the_last_ten_stand_there_in_two_lines_each(kres: Kres):
    out = kres("timeline --demo -A").out
    [every] = json.loads(kres("timeline --demo -A -o json").out)["items"]
    last, left = every["entries"][:10], len(every["entries"]) - 10
    rows = [line for line in out.splitlines() if line[:2] in {"x ", "! ", "  "} and line[2:3].isdigit()]
    assert [row.split()[-1].rpartition("/")[2] for row in rows] == [entry["object"]["name"] for entry in last]
    assert f"\n{left} more: --all\n" in out


def test_the_newest_stand_first_and_since_cuts(kres: Kres):
    [every] = json.loads(kres("timeline --demo -A -o json").out)["items"]
    times = [entry["time"][:19] for entry in every["entries"]]
    assert times == sorted(times, reverse=True)
    [late] = json.loads(kres("timeline --demo -A --since 40s -o json").out)["items"]
    assert 0 < len(late["entries"]) < len(every["entries"])
    assert late["entries"] == every["entries"][: len(late["entries"])]


def test_an_empty_namespace_says_so(kres: Kres):
    assert kres("timeline --demo -n default").out.startswith("no change and no event found in default\n")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("timeline --demo web", 'timeline takes no names, not "web"'),
        ("timeline --demo --since soon", "--since soon: a time is expected, as 30m or 24h"),
        ("timeline --demo --since 0", "--since 0: a time is expected, as 30m or 24h"),
    ],
)
def test_bad_words(kres: Kres, words: str, text: str):
    code, out, err = kres(words)
    assert (code, out) == (2, "")
    assert text in err
