"""``kubectl kres pools``, ``claims`` and ``explain claim/x`` on a server and on files: reads, exit codes, formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli.running import Kres

GOLDEN = Path(__file__).parents[1] / "golden"
ESTATE = GOLDEN / "estate.yaml"
CHECKOUT = GOLDEN / "checkout-pool.yaml"
#: What tells Capsule's version.
DEFINITION = "tenants.capsule.clastix.io"


@pytest.fixture
def estate(api: Any) -> Any:
    api.objects += list(yaml.safe_load_all(ESTATE.read_text()))
    return api


def plurals(api: Any) -> list[str]:
    paths = [path.partition("?")[0] for path in api.asked]
    names = [path.rpartition("/namespaces/")[2].split("/")[-1] for path in paths if "version" not in path]
    return sorted(names)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        # Claims, pools, and since some wait the claims of all namespaces.
        ("claims -n solar-prod", ["resourcepoolclaims", "resourcepoolclaims", "resourcepools"]),
        ("claims -A", ["resourcepoolclaims", "resourcepools"]),
        ("claims -n rain", ["resourcepoolclaims", "resourcepools"]),
        ("pools", ["namespaces", "resourcepoolclaims", "resourcepools", "resourcequotas", DEFINITION]),
        ("claims web -n solar-prod", ["capsule-pool-green", "resourcepoolclaims", "resourcepools", DEFINITION, "web"]),
        (
            "explain claim/late -n solar-prod",
            ["capsule-pool-green", "late", "resourcepoolclaims", "resourcepools", DEFINITION],
        ),
    ],
)
def test_only_what_is_needed_is_read(kres: Kres, estate: Any, text: str, reads: list[str]):
    assert kres(text).code == 0
    assert plurals(estate) == reads


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("claims -n solar-prod", 0),
        ("claims -n solar-prod --exit-code", 1),
        ("claims web -n solar-prod --exit-code", 0),
        ("claims late -n solar-prod --exit-code", 1),
        ("claims web late -n solar-prod -n rain --exit-code", 1),
        ("claims nobody -n rain", 3),
        ("claims nobody -n rain --ignore-not-found", 0),
        ("claim claim/web -n solar-prod", 0),
        ("resourcepoolclaims -n rain", 0),
        ("pool blue --exit-code", 0),
        ("quotapool pool/green --exit-code", 1),
        ("pools nobody", 3),
        ("pools pools", 3),
        ("claims web -A", 2),
        ("claims pod/web", 2),
        ("claims web -l a=b", 2),
        ("claims web --pool green", 2),
        ("claims --for web", 2),
        ("claims --for deploy/web -A", 2),
        ("claims web --for deploy/web", 2),
        ("claims -o describe", 2),
        ("explain claim/web -n solar-prod -c app", 2),
        ("explain claim/late -n solar-prod --exit-code", 1),
        ("explain claims -A --exit-code", 1),
        ("explain pools", 0),
        ("explain claim/nobody -n rain", 3),
    ],
)
def test_exit_codes(kres: Kres, estate: Any, text: str, code: int):
    found = kres(text)
    assert found.code == code, found
    assert "Traceback" not in found.err


def test_what_a_list_can_be_narrowed_to(kres: Kres, estate: Any):
    assert kres("claims -A --pool blue -o name").out.splitlines() == [
        f"resourcepoolclaim.capsule.clastix.io/{name}" for name in ("gpu", "moved", "rel", "big")
    ]
    assert len(kres("claims -A --pool green --waiting -o name").out.splitlines()) == 4
    assert kres("claims -n solar-dev -n wind --waiting -o name").out.count("\n") == 5


def test_a_tenant_without_cluster_rights_gets_a_whole_answer(kres: Kres, estate: Any):
    estate.denied |= {"resourcepools", "namespaces", "resourcequotas"}
    # What explain reads of quotas decides about pods, and it does not know yet that it is asked about a claim.
    for text, expected in (
        ("claims late -n solar-prod", 0), ("explain claim/late -n solar-prod", 4), ("claims -n solar-prod", 0)
    ):  # fmt: skip
        code, out, err = kres(text)
        assert (code, "queued" in out) == (expected, True)
        assert "Forbidden" not in err
    assert "unread  resourcepools, " in kres("claims late -n solar-prod").out
    assert "ResourcePool: resourcepools is forbidden" in " ".join(kres("claims late -n solar-prod --all").out.split())
    assert json.loads(kres("claims late -n solar-prod -o json").out)["metadata"]["complete"] is True
    assert "pool green, as your namespaces show it:" in kres("pools").out
    estate.denied |= {"resourcepoolclaims"}
    code, out, err = kres("pools")
    assert (code, out) == (3, "")
    assert '"kubectl kres claims" tells from your own claims' in err


def test_claims_that_may_not_be_listed_are_read_where_they_may(kres: Kres, estate: Any):
    """All of them may not be listed at once, those of each namespace may."""
    whole = "/apis/capsule.clastix.io/v1beta2/resourcepoolclaims"
    answer = estate.answer

    def refusing(path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path == whole:
            return 403, {"kind": "Status", "reason": "Forbidden", "message": "no", "code": 403}
        return answer(path, query)

    estate.answer = refusing
    found = json.loads(kres("claims late -n solar-prod -o json").out)["items"][0]
    assert found["queue"]["length"] == 4
    assert "unread" not in found
    assert {way["kind"] for way in found["fixes"]} == {"give way", "raise"}


def test_without_capsule(kres: Kres, api: Any):
    answer = api.answer
    missing = {"kind": "Status", "message": "the server could not find the requested resource", "code": 404}
    api.answer = lambda path, query: (404, missing) if "capsule" in path else answer(path, query)
    for text in ("claims -A", "pools"):
        code, out, err = kres(text)
        assert (code, out) == (0, "")
        assert "Capsule is not installed: the server has no resourcepool" in err
        assert "No resources found" not in err
    for text in ("claims x -n shop", "explain claim/x -n shop", "pools x"):
        code, _, err = kres(text)
        assert (code, "at all: what brings them is not installed" in err) == (3, True)


def test_a_pool_that_does_not_exist_has_no_claims(kres: Kres, estate: Any):
    assert kres("claims -A --pool nosuch").err.startswith('There is no pool "nosuch".')
    assert "There is no pool" not in kres("claims -n rain --pool green").err


def test_files_are_told_what_would_become_of_them(kres: Kres):
    code, out, err = kres(f"claims -f {CHECKOUT} --offline --exit-code")
    assert (code, [line.split()[:3] for line in out.splitlines() if " * " in line]) == (
        1,
        [["exhausted", "*", "more"], ["allocated", "*", "base"]],
    )
    assert "namespace checkout is taken to exist" in err
    rows = [line.split()[:3] for line in kres(f"explain -f {CHECKOUT} --offline").out.splitlines()]
    assert ["checkout", "resourcepoolclaim.capsule.clastix.io/base", "allocated"] in rows
    found = json.loads(kres(f"pools -f {CHECKOUT} --offline -o json").out)["items"][0]
    assert (found["predicted"], found["claims"], len(found["queue"])) == (True, 1, 1)
    assert found["namespaces"][0]["matchedSelectors"] == ["kubernetes.io/metadata.name=checkout"]


def made(name: str, amounts: Any, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "capsule.clastix.io/v1beta2",
        "kind": "ResourcePoolClaim",
        "metadata": {"name": name, "namespace": "checkout", **metadata},
        "spec": {"pool": "shared", "claim": amounts},
    }


@pytest.mark.parametrize(
    ("amounts", "said"),
    [
        ({"requests.cpu": "three"}, "[eEinumkKMGTP]*[-+]?[0-9]*)$' (spec.claim[requests.cpu])"),
        (None, 'spec.claim in body must be of type object: "null"'),
    ],
)
def test_what_the_server_would_not_take_is_one_line(kres: Kres, file: Any, amounts: Any, said: str):
    code, out, err = kres(f"claims -f {file(made('bad', amounts))} -f {CHECKOUT} --offline")
    assert code == 2
    assert sum(said in line for line in err.splitlines()) == 1
    assert "base" in out
    assert "Traceback" not in err


@pytest.mark.parametrize("amount", ["-5", "1e300", "0", "9999999999999999999999999E", 7])
def test_absurd_amounts_are_answered(kres: Kres, file: Any, amount: Any):
    name = file(made("odd", {"requests.cpu": amount}))
    for text in ("claims odd -n checkout", "claims", "pools", "explain"):
        found = kres(f"{text} -f {name} -f {CHECKOUT} --offline")
        assert found.code == 0, found
        assert "Traceback" not in found.err


def test_what_to_claim_for_a_workload(kres: Kres):
    """On the demo, with a pool from a file: what exists counts as used, the rolling update on top."""
    text = f"claims --for deploy/checkout -n checkout -f {CHECKOUT} --demo"
    found = json.loads(kres(f"{text} -o json").out)["items"][0]
    sized = {one["name"]: one for one in found["pools"][0]["amounts"]}
    assert {name: (one["peak"], one.get("toClaim"), one.get("shortBy")) for name, one in sized.items()} == {
        "limits.cpu": ("4", "4", None),
        "requests.cpu": ("2", "1", None),
        "requests.memory": ("4Gi", "2Gi", "1Gi"),
    }
    assert kres(f"{text} --exit-code").code == 1


SHARED = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: capsule-global-quota-abc, namespace: shop, labels: {projectcapsule.dev/managed-by: controller}}
spec: {hard: {requests.cpu: "10"}}
status: {hard: {requests.cpu: "10"}, used: {requests.cpu: "3"}}
---
apiVersion: capsule.clastix.io/v1beta2
kind: GlobalResourceQuota
metadata: {name: tenant-cpu}
status:
  namespaces: [shop, shop-dev]
  total: {hard: {requests.cpu: "10"}, used: {requests.cpu: "7"}}
  namespaceUsage: {shop: {used: {requests.cpu: "3"}}, shop-dev: {used: {requests.cpu: "4"}}}
---
apiVersion: capsule.clastix.io/v1beta2
kind: GlobalResourceQuota
metadata: {name: of-others}
status: {namespaces: [far], total: {hard: {requests.cpu: "10"}}}
---
apiVersion: capsule.clastix.io/v1beta2
kind: CustomQuota
metadata: {name: replicas, namespace: shop}
spec: {limit: "20", sources: [{apiVersion: apps/v1, kind: Deployment, op: add, path: .spec.replicas}]}
status: {usage: {used: "21", available: "-1"}}
---
apiVersion: capsule.clastix.io/v1beta2
kind: GlobalCustomQuota
metadata: {name: all-pods}
spec: {limit: 100, sources: [{kind: Pod, op: count}]}
status: {namespaces: [shop], usage: {used: "5", available: "95"}}
"""


def test_capsules_other_quotas_stand_beside_those_of_the_namespace(kres: Kres, tmp_path: Path):
    (tmp_path / "quotas.yaml").write_text(SHARED)
    found = json.loads(kres("quota -f quotas.yaml --offline -n shop -o json").out)["items"]
    shown = [(one["subject"]["kind"], one["uses"][0]["used"], one["uses"][0]["free"]) for one in found]
    assert shown == [
        ("ResourceQuota", "3", "7"),
        ("GlobalResourceQuota", "7", "3"),
        ("GlobalCustomQuota", "5", "95"),
        ("CustomQuota", "21", "-1"),
    ]
    assert kres("quota -f quotas.yaml --offline -n shop --exit-code").code == 1
    assert (
        "counts the sum of .spec.replicas of Deployment (apps/v1)" in kres("quota -f quotas.yaml --offline -n shop").out
    )


@pytest.fixture
def sharing(api: Any) -> Any:
    api.objects += [one for one in yaml.safe_load_all(SHARED) if one]
    api.objects += [{"kind": "Namespace", "metadata": {"name": name}} for name in ("shop", "shop-dev")]
    return api


OTHERS = ["GlobalResourceQuota", "GlobalCustomQuota", "CustomQuota"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("quota -n shop", ["ResourceQuota", *OTHERS]),
        ("quota -A", ["ResourceQuota", OTHERS[0], *OTHERS]),
        ("explain ns/shop", ["ResourceQuota", *OTHERS]),
        ("explain namespaces", ["ResourceQuota", *OTHERS, "GlobalResourceQuota"]),
    ],
)
def test_capsules_other_quotas_of_a_cluster_are_shown_wherever_quotas_are(
    kres: Kres, sharing: Any, text: str, kinds: list[str]
):
    def shown_kinds() -> list[str]:
        found = json.loads(kres(f"{text} -o json").out)
        assert found["metadata"]["complete"]
        items = (
            found["items"]
            if text.startswith("quota")
            else [one for item in found["items"] for one in item.get("quotas", ())]
        )
        return [one["subject"]["kind"] for one in items]

    assert shown_kinds() == kinds
    sharing.denied = {"globalresourcequotas", "globalcustomquotas", "customquotas"}
    assert shown_kinds() == ["ResourceQuota"], "tenants may usually not read them"


@pytest.mark.parametrize("text", ["quota -A", "quota -n shop", "explain ns/shop"])
def test_where_capsule_does_not_show_its_other_quotas_are_not_asked_for(kres: Kres, api: Any, text: str):
    meta = {"name": "team", "namespace": "shop"}
    hard = {"pods": "1"}
    api.objects += [
        {"kind": "Namespace", "metadata": {"name": "shop"}},
        {"kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard}, "status": {"hard": hard, "used": hard}},
    ]
    assert kres(text).code == 0
    assert not [path for path in api.asked if "capsule" in path]


@pytest.mark.parametrize("command", ["explain deploy/heavy -n solar-prod --all", "quota --denied -n solar-prod"])
def test_a_pod_refused_by_a_managed_quota_is_told_what_to_claim(kres: Kres, estate: Any, command: str):
    pod = {"containers": [{"name": "app", "resources": {"requests": {"cpu": "2500m", "memory": "1Gi"}}}]}
    meta = {"name": "heavy", "namespace": "solar-prod"}
    estate.objects.append({"kind": "Deployment", "metadata": meta, "spec": {"replicas": 1, "template": {"spec": pod}}})
    code, out, _ = kres(command)
    assert code == 0
    said = " ".join(out.split())
    assert "raise requests.cpu of claim idle (unused) to 1500m" in said
    if command.startswith("explain"):
        assert "quota capsule-pool-green is kept by Capsule for pool green" in out
        assert [line.split()[1] for line in out.splitlines() if line.startswith(("  in use", "  queued"))] != []
    assert "kept by Capsule for pool green" in kres("quota -n solar-prod").out


DEMO = [
    # A pool that counts other pods is no room, and is said to count others.
    ("claims sweep -n ml-training", "", "name pool ml-spot"),
    ("claims alice -n ml-notebooks", "", "name pool ml-spot"),
    ("explain claim/alice -n ml-notebooks --all", "serves the namespace and has room; it counts only pods of", ""),
    # A closed queue, and the edit that goes round it.
    ("explain deploy/notebook-hub -n ml-notebooks", "raise requests.memory of claim team (unused) to 2Gi", ""),
    ("quota --denied -n ml-notebooks", "raise requests.memory of claim team (unused) to 2Gi", ""),
    ("claims --for deploy/notebook-hub -n ml-notebooks", "sweep waits for requests.memory: such a claim", ""),
    # An overdraft of a namespace.
    ("pools ml-storage", "ml-serving uses persistentvolumeclaims 1 and requests.storage 400Gi, more", "PODS USE"),
    ("explain claim/models -n ml-serving", "more is in use than it allows: existing objects stay", ""),
    # Overlaps of pools with scopes, and what no claim is allocated for.
    ("pools ml-compute", "count against both quotas and must fit in both", "a pod must fit in each"),
    ("pools ml-spot", "no claim for them is allocated there", "no claim there names it"),
    ("explain pools", "ml-storage sound namespace ml-serving uses", "not found"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said", "never"), DEMO)
def test_the_demo_is_told_right(kres: Kres, text: str, said: str, never: str):
    head, _, rest = text.partition(" ")
    code, out, _ = kres(f"{head} --demo {rest}")
    words = " ".join(out.split())
    assert (code, said in words) == (0, True), out
    assert not never or never not in words


@pytest.mark.parametrize("source", ["--demo", "-f", "-f --offline"])
def test_the_hint_names_the_first_of_the_queue_and_can_be_typed(kres: Kres, estate: Any, tmp_path: Path, source: str):
    files = tmp_path / "estate.yaml"
    files.write_text(ESTATE.read_text())
    given, more = source.replace("-f", f"-f {files}"), "-A" if source == "--demo" else ""
    hint = kres(f"claims {given} {more}").err.splitlines()[-1]
    first = "sweep -n ml-training" if source == "--demo" else "train"
    assert hint == f'For one claim, with commands: "kubectl kres claims {first} {given}"'
    assert "fix " in kres(hint.partition("kubectl kres ")[2].removesuffix('"')).out


@pytest.mark.parametrize("output", ["", " -o json"])
@pytest.mark.parametrize(
    "text",
    ["claims late -n solar-prod", "claims -n solar-prod", "explain claim/late -n solar-prod", "claims lost -n rain"],
)
def test_what_to_type_names_server_and_user(kres: Kres, estate: Any, text: str, output: str):
    _, out, err = kres(f"{text}{output} --context lab --as eve --as-group dev")
    typed = [line for line in (out + err).splitlines() if "kubectl " in line and "Check with" not in line]
    typed = [line for line in typed if not line.startswith("code ")]
    assert typed or "lost" in text
    for line in typed:
        commands = line.split(" && ")
        assert all("--context lab --as eve --as-group dev" in one for one in commands), line


@pytest.mark.parametrize(
    "text", ["claims -A -o json", "explain claims -A -o yaml", "explain claim/late -n solar-prod --steps"]
)
def test_queued_lines_that_only_change_places_change_no_answer(kres: Kres, estate: Any, text: str):
    def once() -> str:
        return "".join(line for line in kres(text).out.splitlines(keepends=True) if "time" not in line)

    before = once()
    conditions = [one for item in estate.objects for one in (item.get("status") or {}).get("conditions", ())]
    [queued] = [one for one in conditions if one["reason"] == "QueueExhausted" and "; " in one["message"]]
    queued["message"] = "; ".join(reversed(queued["message"].split("; ")))
    assert once() == before


RACE = """
{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {team: x}}}
---
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePool
metadata: {name: green}
spec: {selectors: [{matchLabels: {team: x}}], quota: {hard: {requests.cpu: 2}}}
"""


@pytest.mark.parametrize("text", ["claims", "explain"])
def test_where_it_is_open_who_gets_in_each_claim_says_so(kres: Kres, tmp_path: Path, text: str):
    """Three claims of one file for the room of two: recorded were all three pairs."""
    made = [
        {
            "apiVersion": "capsule.clastix.io/v1beta2",
            "kind": "ResourcePoolClaim",
            "metadata": {"name": name, "namespace": "a"},
            "spec": {"pool": "green", "claim": {"requests.cpu": amount}},
        }
        for name, amount in (("c", "1"), ("b", "1"), ("a", "1"), ("huge", "9"))
    ]
    (tmp_path / "race.yaml").write_text(RACE + "---\n" + yaml.safe_dump_all(made))
    found = kres(f"{text} -f race.yaml --offline -o json")
    assert "assumed: the claims of the files come one after the other" in found.err
    assert "else others may get in: a/a, a/b and a/c\n" in found.err
    assert found.out.count('"certain": false') == 3
    assert found.out.count("not certain: it depends on which claims of the files come first") == 3


def test_pools_as_capsules_own_metrics(kres: Kres):
    code, out, err = kres("pools --demo -o metrics")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert "# TYPE capsule_pool_limit gauge" in lines
    assert any(line.startswith('capsule_pool_limit{pool="ml-compute",resource="requests.cpu"} ') for line in lines)
    named = kres("pools ml-spot --demo -o metrics").out
    assert 'pool="ml-spot"' in named
    assert 'pool="ml-compute"' not in named


def test_a_tenant_to_migrate(kres: Kres):
    assert kres("migrate --demo tenant/oil").code == 3
    for words, text in (
        ("", "migrate takes one Tenant"),
        ("pod/x", '"pod/x" is no Tenant'),
        ("tenant/x --headroom much", 'invalid argument "much" for "--headroom" flag'),
    ):
        code, out, err = kres(f"migrate --demo {words}")
        assert (code, out, text in err) == (2, "", True)
