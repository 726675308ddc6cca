"""What users stumbled over when they tried the commands, each by the number that it was noted under."""

from __future__ import annotations

import json

import pytest
from cli.running import Kres

from kubectl_kres.render.quota.fit import denied_count

VERDICTS = {"admitted", "full", "refused", "blocked", "partly", "depends-on-order"}


def test_the_demo_shows_every_verdict(kres: Kres):
    found = json.loads(kres("explain --demo -A deploy,cronjob -o json").out)["items"]
    assert {one["verdict"]["outcome"] for one in found} == VERDICTS


def test_c8_the_percentage_has_a_heading(kres: Kres):
    lines = kres("quota --demo team -n checkout").out.splitlines()
    assert lines[1].split() == ["NAME", "USED", "HARD", "FREE", "USED%"]
    assert lines[2].endswith(" 50%")


def test_a11_a_quota_that_is_over_its_hard_is_told_so_and_has_a_percentage(kres: Kres):
    (found,) = json.loads(kres("quota --demo capsule-pool-ml-storage -n ml-serving -o json").out)["items"]
    assert [use["name"] for use in found["uses"] if use["percent"] > 100] == [
        "persistentvolumeclaims",
        "requests.storage",
    ]
    assert "over" in kres("explain --demo quota -n ml-serving").out


def test_c2_a_row_of_a_pod_says_what_is_wrong_with_it(kres: Kres):
    out = kres("explain --demo pods -A").out
    assert all(word in out for word in ("no node: ", "OOMKilled", "Evicted", "Succeeded"))


def test_c6_the_first_line_is_short_and_the_servers_words_have_their_own(kres: Kres):
    lines = kres("explain --demo deploy/checkout -n checkout").out.splitlines()
    assert lines[0].startswith("refused: ") and max(map(len, lines[:2])) <= 80
    assert [line for line in lines if line.startswith("server  ")]


def test_c10_an_edit_is_told_once(kres: Kres):
    assert kres("explain --demo deploy/checkout -n checkout").out.count("changed ") == 1


def test_c12_a_namespace_that_does_not_exist_is_an_error(kres: Kres):
    code, out, err = kres("explain --demo deploy -n nowhere --exit-code")
    assert (code, out) == (3, "")
    assert 'namespaces "nowhere" not found' in err


@pytest.mark.parametrize("word", ["deploy/checkot", "chekout"])
def test_c13_what_nearly_has_the_name_is_named(kres: Kres, word: str):
    assert "did you mean deployment/checkout?" in kres(f"explain --demo {word} -n checkout").err


def test_c11_claims_that_wait_come_before_those_that_have_theirs(kres: Kres):
    states = [one["state"] for one in json.loads(kres("claims --demo -A -o json").out)["items"]]
    held = [state in {"allocated", "in use"} for state in states]
    assert any(held) and held == sorted(held)
    assert states.index("exhausted") < states.index("queued")


@pytest.mark.parametrize("word", ["fit", "denied", "sizing", "summary", "open", "resize"])
def test_c15_names_of_schemas_that_are_no_commands_are_explained(kres: Kres, word: str):
    assert word in kres("help schema").out.partition("Examples:")[0]


def test_c15_what_exit_code_means_for_quotas_is_said(kres: Kres):
    text = " ".join(kres("help quota").out.split())
    assert "With --exit-code it exits with 1 where more is used than a quota allows" in text
    assert kres("quota --demo -n shop --exit-code").code == 0
    assert kres("quota --demo -n ml-serving --exit-code").code == 1


@pytest.mark.parametrize("setting", [("LC_ALL", "C"), ("LC_ALL", "POSIX"), ("PYTHONIOENCODING", "ascii")])
def test_a14_bars_are_ascii_where_the_user_says_so(
    kres: Kres, monkeypatch: pytest.MonkeyPatch, setting: tuple[str, str]
):
    monkeypatch.setenv(*setting)
    assert kres("quota --demo team -n checkout").out.isascii()


def test_a15_an_empty_stanza_is_said_to_be_a_quirk(kres: Kres):
    text = " ".join(kres("qos --demo pod/sessions-0 -n checkout --all").out.split())
    assert "set spec.resources to {} possible, not advice: with an empty spec.resources" in text


def test_d_one_workload_is_one(kres: Kres):
    out = kres("quota --demo --denied -n payments").out
    assert out == "none of 4 workloads is refused\n"
    assert denied_count(0, 1) == "no workload is refused"
    assert denied_count(0, 2) == "none of 2 workloads is refused"
