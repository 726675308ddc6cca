"""``pools`` for those who may not read pools: what their own quotas and claims tell, with what could not be seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli.running import Kres

ESTATE = Path(__file__).parents[1] / "golden" / "estate.yaml"


@pytest.fixture
def tenant(api: Any) -> Any:
    """An estate whose pools and namespaces are closed, and of whose other objects no list over all namespaces is."""
    api.objects += list(yaml.safe_load_all(ESTATE.read_text()))
    api.denied |= {"resourcepools", "namespaces"}
    answer, status = api.answer, {"kind": "Status", "reason": "Forbidden", "message": "no list", "code": 403}
    wide = {"/apis/capsule.clastix.io/v1beta2/resourcepoolclaims", "/api/v1/resourcequotas"}
    api.answer = lambda path, query: (403, status) if path in wide else answer(path, query)
    return api


@pytest.mark.parametrize(
    "text", ["pools -n solar-prod", "pools green -n solar-prod", "explain pool/green -n solar-prod"]
)
def test_own_quotas_and_claims_tell_of_a_pool(kres: Kres, tenant: Any, text: str):
    code, out, err = kres(text)
    assert (code, "Forbidden" in err) == (0, False)
    assert out.startswith("pool green, as your namespaces show it: 1 namespace, 2 claims allocated, 1 waits\n")
    assert "  solar-prod uses requests.cpu 2 of 4, requests.memory 3Gi of 5Gi\n" in out
    assert "   - queued     solar-prod/late" in out
    assert "solar-dev" not in out
    assert "unread  ResourcePool green: resourcepools is forbidden" in out


def test_the_document_says_that_it_is_a_glimpse(kres: Kres, tenant: Any):
    found = json.loads(kres("pools -n solar-prod -n wind -o json").out)
    green = next(one for one in found["items"] if one["subject"]["name"] == "green")
    assert (green["glimpse"], "uses" in green, green["claims"]) == (True, False, 3)
    assert [one["state"] for one in green["unread"]] == ["denied"]
    assert found["metadata"]["complete"] is True


@pytest.mark.parametrize(
    ("text", "code"),
    [("pools nobody -n solar-prod", 3), ("pools -n nowhere", 3), ("pools -n solar-prod --exit-code", 1)],
)
def test_exit_codes(kres: Kres, tenant: Any, text: str, code: int):
    assert kres(text).code == code


def test_without_quotas_claims_are_enough(kres: Kres, tenant: Any):
    tenant.denied |= {"resourcequotas"}
    code, out, _ = kres("pools -n solar-prod")
    assert (code, "solar-prod: its quota there is not known" in out) == (0, True)


def test_all_pools_get_a_line(kres: Kres, tenant: Any):
    code, out, err = kres("explain pools -n solar-prod")
    assert (code, err) == (0, "unread  resourcepools, namespaces (no permission)\n")
    line = "NAME OUTCOME WHY green not seen as your namespaces show it: 2 of their claims allocated, 1 waits"
    assert " ".join(out.split()) == line


def test_the_page_of_a_claim_leads_to_what_its_namespace_shows_of_the_pool(kres: Kres, tenant: Any):
    out = kres("claims late -n solar-prod").out
    (command,) = (line.strip() for line in out.splitlines() if line.strip().startswith("kubectl kres pools"))
    assert kres(command.removeprefix("kubectl kres ")).out.startswith("pool green, as your namespaces show it")
