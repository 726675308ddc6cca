"""The objects of files judged together: the five cases that were wrong when each was judged alone, and their kin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.apiserver import Api
from cli.apiserver import deployment as api_deployment
from cli.running import Kres

from kubectl_kres.documents import yaml_text

QUOTA = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: NS}
spec: {hard: {HARD}}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: NS}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec: {containers: [{name: c, image: example.test/x, resources: {requests: {cpu: 600m}}}]}
"""
POOL = """
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePool
metadata: {name: zeros}
spec:
  config: {defaultsZero: true}
  selectors: [{matchLabels: {team: new}}]
  quota: {hard: {requests.cpu: "2"}}
"""
NAMESPACE = """
apiVersion: v1
kind: Namespace
metadata: {name: fresh, labels: {team: new}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: fresh}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}
"""
CLAIM = """
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePoolClaim
metadata: {name: enough, namespace: fresh}
spec: {pool: zeros, claim: {requests.cpu: "1"}}
"""
EDIT = """
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePoolClaim
metadata: {name: team, namespace: ml-notebooks}
spec: {pool: ml-compute, claim: {requests.cpu: "2", requests.memory: 2Gi}}
"""


def written(folder: Path, *texts: str) -> Path:
    path = folder / "all.yaml"
    path.write_text("---".join(texts))
    return path


def deployment(name: str, replicas: int = 3, namespace: str = "shop") -> str:
    return DEPLOYMENT.replace("NAME", name).replace("REPLICAS", str(replicas)).replace("NS", namespace)


def quota(hard: str, namespace: str = "shop") -> str:
    return QUOTA.replace("HARD", hard).replace("NS", namespace)


def test_a_new_quota_counts_the_pods_that_run(kres: Kres, tmp_path: Path):
    path = written(tmp_path, quota("pods: '4'").replace("team", "small"), deployment("a", 1))
    code, out, err = kres(f"explain -f {path} --demo --exit-code")
    assert (code, err) == (1, "")
    assert "exceeded quota: small, requested: pods=1, used: pods=14, limited: pods=4" in " ".join(out.split())


def test_two_deployments_that_fit_alone_do_not_fit_together(kres: Kres, tmp_path: Path):
    path = written(tmp_path, quota("requests.cpu: 2300m"), deployment("a"), deployment("b"))
    code, out, err = kres(f"explain -f {path} --offline --exit-code")
    assert (code, err) == (1, "")
    assert "together: not all of it fits NAME FITS a 3 of 3 b 0 of 3 quota team is short by 1300m of" in " ".join(
        out.split()
    )
    found = json.loads(kres(f"explain -f {path} --offline -o json").out)["items"][-1]
    assert found["outcome"] == "partly"
    assert [(one["subject"]["name"], one["pods"], one["best"]) for one in found["workloads"]] == [
        ("a", 3, 3),
        ("b", 0, 3),
    ]
    assert found["shortfalls"][0]["amount"] == "1300m"


def test_a_pool_that_gives_zeros_to_a_new_namespace_makes_a_quota_of_zero(kres: Kres, tmp_path: Path):
    path = written(tmp_path, POOL, NAMESPACE, POD)
    code, out, _ = kres(f"explain -f {path} --demo --exit-code")
    assert code == 1
    assert "exceeded quota: capsule-pool-zeros, requested: requests.cpu=100m, used: requests.cpu=0" in " ".join(
        out.split()
    )


def test_an_edit_of_a_claim_is_an_edit(kres: Kres, tmp_path: Path):
    """What claims proposes, given back with -f: the claim keeps what it holds, and its place."""
    code, out, _ = kres(f"claims team -n ml-notebooks -f {written(tmp_path, EDIT)} --demo --exit-code")
    assert (code, out.splitlines()[0]) == (0, "would be allocated: ml-notebooks/team of pool ml-compute")


def test_of_twenty_replicas_two_fit(kres: Kres, tmp_path: Path):
    path = written(tmp_path, quota("requests.cpu: 1300m"), deployment("twenty", 20))
    code, out, _ = kres(f"explain -f {path} --offline --exit-code")
    assert code == 1
    assert out.startswith("partly: shop/Deployment/twenty")


def test_a_claim_grows_the_quota_for_the_workload_that_stands_beside_it(kres: Kres, tmp_path: Path):
    path = written(tmp_path, POOL, NAMESPACE, POD, CLAIM)
    code, out, _ = kres(f"explain -f {path} --demo --exit-code")
    assert code == 0
    assert "admitted" in out


def test_what_exists_is_updated(kres: Kres, tmp_path: Path):
    """The quota of the namespace keeps what is used; the workload of the same name is not there twice."""
    path = written(tmp_path, quota("pods: '15'"), deployment("storefront", 4), deployment("cart", 2))
    found = json.loads(kres(f"explain -f {path} --demo -o json").out)["items"][-1]
    assert [(one["subject"]["name"], one["wanted"]) for one in found["workloads"]] == [("storefront", 4), ("cart", 2)]
    assert found["outcome"] in {"admitted", "partly"}


def test_what_could_not_be_read_is_told(kres: Kres, tmp_path: Path):
    """A snapshot of another namespace knows nothing of this one."""
    path = written(tmp_path, quota("pods: '5'", "elsewhere"), deployment("a", 1, "elsewhere"))
    code, out, _ = kres(f"explain -f {path} --demo")
    assert code in {0, 4}
    assert "pods" in out


LIMITS = """
apiVersion: v1
kind: LimitRange
metadata: {name: small, namespace: shop}
spec: {limits: [{type: Container, max: {cpu: 100m}}]}
"""


def test_what_is_named_is_explained_after_the_change(kres: Kres, tmp_path: Path):
    ask = "explain deploy/storefront -n shop --demo"
    code, out, err = kres(f"{ask} -f {written(tmp_path, LIMITS)}")
    assert (code, err) == (0, "")
    text = "maximum cpu usage per Container is 100m"
    assert (text in kres(ask).out, text in " ".join(out.split())) == (False, True)


def test_what_is_named_is_explained_beside_what_the_change_brings(kres: Kres, tmp_path: Path):
    """The quota of the file counts what runs, and a Deployment of the file has taken what was left of it."""
    ask = "explain deploy/storefront -n shop --demo -o json"
    change = written(tmp_path, quota("requests.cpu: '4'").replace("team", "all"), deployment("new", 1))
    after = json.loads(kres(f"{ask} -f {change}").out)["items"][0]
    [charge] = [one["charge"] for one in after["quotas"] if one["quota"] == "all"]
    assert (charge["hard"], charge["used"]) == ({"requests.cpu": "4"}, {"requests.cpu": "3850m"})


def test_the_file_s_own_form_of_what_is_named_is_explained(kres: Kres, tmp_path: Path):
    change = written(tmp_path, deployment("storefront", 2), LIMITS)
    found = json.loads(kres(f"explain deploy/storefront -n shop --demo -o json -f {change}").out)["items"]
    assert [one["subject"]["name"] for one in found] == ["storefront"]
    assert "600m" in json.dumps(found[0]["containers"])


def test_diff_of_what_is_named_takes_the_change(kres: Kres, tmp_path: Path):
    defaults = LIMITS.replace("max: {cpu: 100m}", "default: {ephemeral-storage: 1Gi}")
    before = kres("diff deploy/cart -n shop --demo").out
    after = kres(f"diff deploy/cart -n shop --demo -f {written(tmp_path, defaults)}").out
    assert before != after
    assert "LimitRange/small" in after


LIVE_POD = """
apiVersion: v1
kind: Pod
metadata: {name: one, namespace: shop}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}}]}
"""


def test_diff_counts_what_is_there_for_a_quota_of_a_file(kres: Kres, tmp_path: Path):
    path = tmp_path / "quota.yaml"
    path.write_text(
        QUOTA.replace("NS", "shop").replace("HARD", "pods: '1'").replace("team", "tight") + "---" + LIVE_POD
    )
    code, out, _ = kres(f"diff --demo -n shop -f {path}")
    assert code == 1
    assert (
        'pods "one" is forbidden: exceeded quota: tight, requested: pods=1, used: pods=14, limited: pods=1'
        in " ".join(out.split())
    )


def test_diff_of_what_is_there_after_a_change(kres: Kres, tmp_path: Path):
    """The other objects of the file are counted, too."""
    path = tmp_path / "quota.yaml"
    path.write_text(QUOTA.replace("NS", "shop").replace("HARD", "pods: '1'").replace("team", "less"))
    _, out, _ = kres(f"diff --demo -n shop deploy/cart -f {path}")
    assert "exceeded quota: less, requested: pods=1, used: pods=14, limited: pods=1" in " ".join(out.split())


def test_kinds_with_several_templates_take_room_from_the_others(kres: Kres, tmp_path: Path):
    """A JobSet of 2 times 2 pods, and Volcano's Job, which is called like one of Kubernetes' own."""
    template = "{spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 600m}}}]}}"
    jobs = f"[{{name: w, replicas: 2, template: {{spec: {{parallelism: 2, template: {template}}}}}}}]"
    jobset = f"""
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: train, namespace: shop}}
spec: {{replicatedJobs: {jobs}}}
"""
    volcano = f"""
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: mesh, namespace: shop}}
spec: {{tasks: [{{name: t, replicas: 2, template: {template}}}]}}
"""
    path = written(tmp_path, quota('requests.cpu: "3"'), deployment("a"), jobset, volcano)
    code, out, _ = kres(f"explain --offline -f {path} --exit-code")
    assert code == 1
    text = "together: not all of it fits NAME FITS a 3 of 3 train-w 2 of 4 mesh-t 0 of 2 quota team is short by 2400m"
    assert text in " ".join(out.split())
    path = written(tmp_path, quota('requests.cpu: "6"'), deployment("a"), jobset, volcano)
    assert "together: all of it fits" in kres(f"explain --offline -f {path}").out


def test_what_has_no_limit_is_not_said_to_be_above_one(kres: Kres, tmp_path: Path):
    """The server asks for a limit where a LimitRange has a max: what is requested may be less than that."""
    bounds = """
apiVersion: v1
kind: LimitRange
metadata: {name: bounds, namespace: shop}
spec: {limits: [{type: Pod, max: {cpu: "4"}, min: {memory: 1Gi}}]}
"""
    out = kres(f"explain --offline -f {written(tmp_path, bounds, deployment('a'))}").out
    assert "cpu has no limit, which the max 4 of LimitRange bounds asks for" in " ".join(out.split())
    assert "memory has no request, which the min 1Gi of LimitRange bounds asks for" in " ".join(out.split())


@pytest.mark.thorough
def test_of_many_workloads_those_are_named_that_lack_pods(kres: Kres, tmp_path: Path):
    names = [f"w{number:02}" for number in range(12)]
    path = written(tmp_path, quota("requests.cpu: 6600m"), *(deployment(name, 1) for name in names))
    assert (
        "together: not all of it fits NAME FITS w11 0 of 1 11 others get all their pods quota team is short by 600m"
        in " ".join(kres(f"explain -f {path} --offline").out.split())
    )
    written(tmp_path, quota("requests.cpu: 1"), *(deployment(name, 1) for name in names))
    assert "w08 0 of 1 3 more lack pods 1 others get all their pods quota" in " ".join(
        kres(f"explain -f {path} --offline").out.split()
    )
    written(tmp_path, *(deployment(name, 1) for name in names))
    assert "together: all of it fits\n  12 get all their pods" in kres(f"explain -f {path} --offline").out


def test_places_of_many_objects_take_one_walk_over_their_file(kres: Kres, tmp_path: Path, monkeypatch):
    walks = []
    walked = yaml_text.events
    monkeypatch.setattr(yaml_text, "events", lambda document: walks.append(1) or walked(document))
    items = "".join(f"- {deployment(f'w{number}', 1).strip()}\n".replace("\n", "\n  ")[:-2] for number in range(9))
    path = written(tmp_path, f"apiVersion: v1\nkind: List\nitems:\n{items}")
    assert "together: all of it fits" in kres(f"explain -f {path} --offline").out
    assert len(walks) == 2, "once for the values, once for all places"


FRACTIONS = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: shop}
spec: {hard: {requests.cpu: 4.5, requests.storage: 1.5e11}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: l, namespace: shop}
spec: {limits: [{type: Container, max: {cpu: 1.5}, defaultRequest: {cpu: 0.05}}]}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: heavy}
handler: x
overhead: {podFixed: {cpu: 0.25}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1.5e9}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: f, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: f}}
  template:
    metadata: {labels: {app: f}}
    spec: {runtimeClassName: heavy, containers: [{name: c, image: i, resources: {requests: {cpu: 0.5, memory: 1e6}}}]}
"""


def test_fractions_are_amounts_like_others(kres: Kres, tmp_path: Path):
    path = written(tmp_path, FRACTIONS)
    code, out, err = kres(f"simulate --demo -f {path} -o json")
    [item] = [item for item in json.loads(out)["items"][0]["workloads"] if item["subject"]["name"] == "f"]
    assert (code, err, item["after"]) == (0, "", {"wanted": 3, "pods": 1, "best": 1})
    assert kres(f"explain --demo -f {path} --exit-code").out.count("f     1 of 3") == 1
    assert "1 of them fits" in kres(f"check --demo -f {path}").out


SERVICES = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: fresh}
spec: {hard: {services.loadbalancers: "1", persistentvolumeclaims: "0"}}
---
apiVersion: v1
kind: Service
metadata: {name: a, namespace: fresh}
spec: {type: LoadBalancer, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: b, namespace: fresh}
spec: {type: LoadBalancer, ports: [{port: 80}]}
"""


def test_services_and_claims_take_room_from_each_other(kres: Kres, tmp_path: Path):
    """Each of them alone is admitted."""
    code, out, _ = kres(f"explain --demo -f {written(tmp_path, NAMESPACE, SERVICES)} --exit-code")
    assert code == 1
    assert 'together: not all of it fits\n  refused: Service/b: services "b" is forbidden: exceeded quota: q' in out


JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: NAME, namespace: fresh}
spec:
  parallelism: 5
  completions: 2
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 600m}}}]}}
"""


def test_a_job_asks_for_no_more_pods_than_it_has_to_complete(kres: Kres, tmp_path: Path):
    jobs = [JOB.replace("NAME", name) for name in "ab"]
    path = written(tmp_path, NAMESPACE, quota("requests.cpu: 1200m", "fresh"), *jobs)
    out = " ".join(kres(f"explain --demo -f {path}").out.split())
    assert "a 2 of 2 b 0 of 2 quota team is short by 1200m of requests.cpu" in " ".join(out.split())
    assert "applied together, 0 of 2 pods fit: quota team is short by 1200m" in " ".join(
        kres(f"check --demo -f {path}").out.split()
    )


def test_what_fits_is_counted_beside_what_is_there(kres: Kres, tmp_path: Path):
    """A quota of a file, held against a Deployment of the cluster."""
    code, out, _ = kres(
        f"quota --fit deploy/storefront --demo -n shop -f {written(tmp_path, quota('pods: 15'))} --exit-code"
    )
    assert "pods            1      14    15    15" in out
    code, out, _ = kres(f"quota --fit deploy/recommendations --demo -n shop -f {written(tmp_path, quota('pods: 2'))}")
    assert (code, out.partition(":")[0]) == (0, "no such pod fits")


GROWN = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: catalog, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: catalog}}
  template:
    metadata: {labels: {app: catalog}}
    spec: {containers: [{name: api, image: i, resources: {requests: {cpu: 250m, memory: 150Mi}}}]}
"""


def test_a_rollout_that_stalls_beside_the_others_does_not_fit(kres: Kres, tmp_path: Path):
    """Each alone is admitted; the old pods that stay are none of the file's."""
    small = deployment("new").replace("replicas: 3", "replicas: 1").replace("cpu: 600m", "cpu: 50m, memory: 150Mi")
    for item in (GROWN, small):
        assert kres(f"explain --demo -f {written(tmp_path, item)} --exit-code").code == 0
    code, out, _ = kres(f"explain --demo -f {written(tmp_path, small, GROWN)} --exit-code")
    said = " ".join(out.partition("together: ")[2].split())
    assert code == 1 and said.startswith("not all of it fits NAME FITS new 1 of 1 catalog ")
    assert " of 3 updated, " in said and "old pod" in said


def test_a_quota_of_a_file_takes_the_place_of_the_one_that_was_read(kres: Kres, api: Api, tmp_path: Path):
    """It is an edit of that one, whose status is believed, also where the cluster is read after the file."""
    hard = {"requests.cpu": "2"}
    there = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team", "namespace": "shop"}}
    api.objects.append({**there, "spec": {"hard": hard}, "status": {"hard": hard, "used": {"requests.cpu": "1500m"}}})
    path = written(tmp_path, quota("requests.cpu: 2500m"), deployment("a"))
    out = kres(f"explain -f {path} --exit-code").out
    assert "only 1 of the 3 missing pods fits\n\nfix 1   raise requests.cpu of quota team to 3300m" in out
    # After the change one of the pods is there.
    assert "requests.cpu  2100m  2500m" in kres(f"explain quota/team -f {path}").out


@pytest.mark.parametrize("kind", ["Job", "PersistentVolumeClaim", "Deployment", "ResourceQuota"])
def test_an_edit_that_the_server_refuses_is_told(kres: Kres, tmp_path: Path, kind: str):
    """What can be written once only."""
    pod = "template: {spec: {restartPolicy: Never, containers: [{name: a, image: z}]}}"
    labels = (
        "{matchLabels: {app: z}}, template: {metadata: {labels: {app: z}}, spec: {containers: [{name: a, image: z}]}}"
    )
    version, space, name, spec = {
        "Job": ("batch/v1", "batch", "thumbnails", pod),
        "PersistentVolumeClaim": (
            "v1", "shop", "data-search-0", "accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}",
        ),
        "Deployment": ("apps/v1", "shop", "storefront", f"replicas: 1, selector: {labels}"),
        "ResourceQuota": ("v1", "batch", "best-effort", "hard: {pods: 9}, scopes: [NotBestEffort]"),
    }[kind]  # fmt: skip
    path = tmp_path / "edit.yaml"
    path.write_text(
        f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: {space}}}\nspec: {{{spec}}}\n"
    )
    code, out, _ = kres(f"explain --demo -f {path} --exit-code")
    # What its own answer says already is not said of the files together.
    told = (
        "together: none of it comes\n  refused: {kind}/{name}: "
        if kind != "PersistentVolumeClaim"
        else ("refused: shop/{kind}/{name}: spec: Forbidden")
    )
    assert code == 1 and told.format(kind=kind, name=name) in out
    assert out.count("refused: ") == 1 or kind != "PersistentVolumeClaim"
    assert "immutable" in out


def test_what_controllers_made_is_no_part_of_a_change(kres: Kres, api: Api, tmp_path: Path):
    """As in what ``kubectl get all -o yaml`` writes."""
    web, owner = api_deployment("web", "1Mi"), [{"kind": "Deployment", "name": "web", "uid": "u", "controller": True}]
    web["spec"]["replicas"] = 2
    made = {**web, "kind": "ReplicaSet", "metadata": {**web["metadata"], "name": "web-1", "ownerReferences": owner}}
    api.objects += [web, made]
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [made, web]}))
    assert "nothing changes NAME FITS web 2 of 2" in " ".join(kres(f"explain -f {path}").out.split())
    code, out, err = kres(f"simulate -f {path}")
    assert (code, out) == (4, "Nothing changes as far as seen.\n")
    assert "this ReplicaSet is made by Deployment web, and what differs from it is not simulated" in err


def test_check_tells_why_an_object_itself_is_refused(kres: Kres, tmp_path: Path):
    path = written(
        tmp_path, NAMESPACE, quota("count/deployments.apps: 1", "fresh"), *(deployment(a, 1, "fresh") for a in "ab")
    )
    said = " ".join(kres(f"check --demo -f {path}").out.split())
    assert 'applied together, 0 of 1 pods fit: deployments.apps "b" is forbidden: exceeded quota: team' in said
