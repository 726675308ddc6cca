"""``kubectl kres quota`` on a server, a snapshot and files: what it reads, its exit codes, its formats."""

from __future__ import annotations

import json

import pytest
from cli.apiserver import deployment, pod
from cli.running import Kres


def quota(name="team", namespace="shop", hard="1Gi", used="768Mi", **spec):
    held = {"requests.memory": hard}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": namespace, "labels": {"tier": name}},
        "spec": {"hard": held, **spec},
        "status": {"hard": held, "used": {"requests.memory": used}},
    }


@pytest.fixture
def shop(api):
    lacking = deployment("lacking", "512Mi")
    lacking["spec"]["replicas"] = 2
    lacking["status"] = {"replicas": 0}
    api.objects += [quota(), pod("web", "512Mi"), pod("far", "64Mi", "far"), quota("other", "far"), lacking]
    return api


def plurals(api) -> set[str]:
    return {path.partition("?")[0].rpartition("/namespaces/")[2].split("/")[-1] for path in api.asked} - {"version"}


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("quota", {"resourcequotas"}),
        ("quotas -A", {"resourcequotas"}),
        ("quota --recount", {"resourcequotas", "pods"}),
        ("quota --by pod -A", {"resourcequotas", "pods"}),
    ],
)
def test_only_what_is_needed_is_read(kres: Kres, shop, text: str, reads: set[str]):
    assert kres(text).code == 0
    assert plurals(shop) == reads


def test_refused_workloads_need_no_pods(kres: Kres, shop):
    code, out, err = kres("quota --denied --exit-code")
    assert (code, err) == (1, "")
    assert out.splitlines()[0] == "refused  shop/Deployment/lacking  2 of 2 pods missing"
    assert out.splitlines()[-1] == "1 of 1 workload is refused"
    assert "  fix     raise requests.memory of quota team to " in out
    assert "pods" not in plurals(shop)


def test_of_many_refused_workloads_the_first_have_fixes(kres: Kres, shop):
    lacking = [deployment(f"lacking-{number:02}", "2Gi") for number in range(29)]
    for item in lacking:
        item["status"] = {"replicas": 0}
    shop.objects += lacking
    out = kres("quota --denied").out
    assert out.splitlines()[-2:] == [
        "30 of 30 workloads are refused",
        "with fixes for the first 25; --all looks for all",
    ]
    first, last = out.split("refused  shop/Deployment/lacking-24")
    assert (first.count("  fix  "), first.count("  next  "), last.count("  fix  ")) == (25, 0, 0)
    assert last.count("  next    kubectl kres explain deployment/lacking-") == 5
    for words, fixes in (("--all", 30), ("-o json", 30), ("-o name", 0)):
        found = kres(f"quota --denied {words}").out
        texts = [item.get("fixes") for item in json.loads(found)["items"]] if "json" in words else [None] * 30
        assert (found.count("  fix  ") or sum(map(bool, texts)), "with fixes" in found) == (fixes, False), words


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("quota", 0),
        ("quota --exit-code", 0),
        ("quota --recount --exit-code", 1),
        ("quota --fit deploy/lacking", 0),
        ("quota --fit deploy/lacking --exit-code", 1),
        ("quota --fit pod/web", 0),
        ("quota other -n far --recount --exit-code", 1),
        ("quota team -n shop -n far", 0),
        ("quota nope", 3),
        ("quota nope --ignore-not-found", 0),
        ("quota --fit deploy/nope", 3),
        ("quota -n empty", 3),
    ],
)
def test_exit_codes(kres: Kres, shop, text: str, code: int):
    found = kres(text)
    assert (found.code, "Traceback" in found.err) == (code, False), found


def test_no_quotas(kres: Kres, shop):
    assert kres("quota -n empty") == (3, "", 'Error from server (NotFound): namespaces "empty" not found\n')
    hint = 'there is no namespace "shop" (--namespace)\n'
    assert kres("quota nope") == (3, "", f'Error from server (NotFound): resourcequotas "nope" not found\n{hint}')


def test_what_may_not_be_read(kres: Kres, shop):
    shop.denied = {"pods"}
    code, out, err = kres("quota --recount")
    assert code == 4
    assert "not recounted: the pods were not read" in out
    assert err.startswith("Error from server (Forbidden): pods is forbidden: ")
    assert kres("quota --recount --allow-partial").code == 0
    shop.denied = {"resourcequotas"}
    for text in ("quota", "quota -A", "quota team"):
        code, out, err = kres(text)
        assert (code, out) == (3, "")
        assert err.startswith("Error from server (Forbidden): resourcequotas is forbidden: ")
    assert kres("quota --denied").code == 4
    shop.denied = {"namespaces"}
    assert kres("explain ns/shop").code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("quota --fit webb", 'invalid argument "webb" for "--fit" flag: TYPE/NAME is expected, as deploy/web'),
        ("quota --fit a/b/c", 'invalid argument "a/b/c" for "--fit" flag: TYPE/NAME is expected, as deploy/web'),
        ("quota --fit svc/web", "services make no pods"),
        ("quota team --fit deploy/a", "--fit looks at all quotas of the namespace"),
        ("quota --fit -A", "--fit takes TYPE/NAME, not -A"),
        ("quota --fit deploy/a --denied", "--fit and --denied exclude each other"),
        (
            "quota --by owner",
            'invalid argument "owner" for "--by" flag: one of workload, pod, priority, value is expected',
        ),
        ("quota deploy/web", '"deploy/web" is no quota'),
        ("quota team -A", "a resource cannot be retrieved by name across all namespaces"),
        ("quota team --denied", "--denied looks at all workloads"),
        ("explain quota/team --for app.limits.cpu", "--for asks about a pod, not about ResourceQuota/team"),
    ],
)
def test_what_does_not_go_together(kres: Kres, shop, text: str, message: str):
    code, out, err = kres(text)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")


def test_the_forms_of_a_list(kres: Kres, shop):
    assert kres("quota -A -o name").out.split() == ["resourcequota/team", "resourcequota/other"]
    assert kres("quota quota/team -o name").out == "resourcequota/team\n"
    assert kres("quota -A -l tier=other -o name").out == "resourcequota/other\n"
    found = json.loads(kres("quota -A -o json").out)
    assert (found["kind"], [one["subject"]["namespace"] for one in found["items"]]) == ("Quota", ["shop", "far"])
    assert kres("quota -o describe").out.splitlines()[:3] == [
        "Name:            team",
        "Namespace:       shop",
        "Resource         Used   Hard",
    ]
    assert "###" in kres("quota --ascii").out and kres("quota --ascii").out.isascii()


def test_lists_of_policies(kres: Kres, shop):
    for text, kinds in (
        ("explain quota -A", 2),
        ("explain limits", 1),
        ("explain ns -A", 0),
        ("explain quota,limits", 2),
    ):
        found = kres(f"{text} -o name")
        assert (found.code, len(found.out.splitlines())) == (0, kinds), text


def test_a_snapshot_answers_as_the_cluster_does(kres: Kres, shop):
    texts = [
        "quota -A --recount",
        "quota --by workload",
        "quota --by value",
        "quota --fit deploy/lacking",
        "quota --denied",
        "explain ns/shop",
    ]
    live = [kres(f"{text} -n shop") if "-A" not in text else kres(text) for text in texts]
    kres("snapshot -A --out all.kres")
    shop.denied = {"pods", "resourcequotas", "limitranges"}
    for text, found in zip(texts, live, strict=True):
        held = kres(f"{text} --snapshot all.kres" + (" -n shop" if "-A" not in text else ""))
        assert (held.code, sorted(held.out.splitlines())) == (found.code, sorted(found.out.splitlines())), text


def test_files_alone(kres: Kres, file):
    given = file(quota(used="0"), deployment("web", "512Mi"))
    text = f"--offline -f {given}"
    assert kres(f"quota {text}").out.splitlines()[0] == "quota team in shop"
    code, out, _ = kres(f"quota --fit deploy/web {text} -n shop")
    assert (code, out.splitlines()[0]) == (0, "2 more such pods fit: shop/Deployment/web (quota team)")
    bad = file(quota(hard="many"), name="bad.json")
    code, out, err = kres(f"quota --offline -f {bad}")
    assert (code, out) == (2, "")
    assert err.startswith("error: ResourceQuota/team: spec.hard[requests.memory]: quantities must match")


def test_what_fits_of_a_name_alone(kres: Kres, file):
    """As explain finds what has a name; where several have it, the type says which is meant."""
    named = kres("quota --fit checkout -n checkout --demo")
    assert named == kres("quota --fit deploy/checkout -n checkout --demo") and named.code == 0
    assert kres("claims --for ranker -n ml-serving --demo").out.startswith("ml-serving/Deployment/ranker")
    assert "did you mean deployment/checkout?" in kres("quota --fit chekout -n checkout --demo").err
    template = {"containers": [{"name": "app", "image": "i"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": template}
    path = file(pod, {**pod, "metadata": {"name": "other"}})
    assert kres(f"quota --fit web --offline -f {path}").out.startswith("no quota limits such pods: default/Pod/web")
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": template}},
    }
    code, _, err = kres(f"quota --fit web --offline -f {file(pod, job)}")
    assert code == 2 and err.endswith("there are Pod/web and Job/web\n")
