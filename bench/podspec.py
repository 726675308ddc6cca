"""Pod specs of a synthetic cluster, and what each of them adds up to."""

from __future__ import annotations

import random

RV0 = 10_000_000
ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # the letters generated names use
WORDS = (
    *("cart", "checkout", "orders", "billing", "search", "users", "auth", "catalog", "media", "mailer", "worker"),
    *("gateway", "ledger", "pricing", "stock", "shipping", "reviews", "events", "notify", "reports", "ingest"),
    *("export", "audit", "cache", "proxy", "sync"),
)
TEAMS = ("atlas", "borea", "comet", "delta", "ember", "flint", "grove", "haven", "indigo", "juniper")
RATES = {
    "cpu": ["10m", "50m", "100m", "200m", "250m", "500m", "750m", "1", "1500m", "2", "4"],
    "memory": ["32Mi", "64Mi", "100Mi", "128Mi", "200M", "256Mi", "512Mi", "768Mi", "1Gi", "1536Mi", "2Gi", "4Gi"],
}
SUFFIX = {
    "m": 1,
    "": 1000,
    "k": 10**6,
    "M": 10**9,
    "G": 10**12,
    "T": 10**15,
    "P": 10**18,
    "Ki": 1000 * 2**10,
    "Mi": 1000 * 2**20,
    "Gi": 1000 * 2**30,
    "Ti": 1000 * 2**40,
    "Pi": 1000 * 2**50,
}


def milli(text: str) -> int:
    """A canonical quantity in thousandths.  Only the forms that servers write for amounts as they occur here."""
    number = text.rstrip("kKmMGTPi")
    return int(number) * SUFFIX[text[len(number) :]]


def show(resource: str, value: int) -> str:
    """Thousandths as the server writes them: bytes with a binary suffix where one divides them, else decimal."""
    if value % 1000:
        return f"{value}m"
    whole, step = value // 1000, 1000
    units = ("", "k", "M", "G", "T", "P")
    if resource.endswith(("memory", "storage")) and whole % 1024 == 0:
        step, units = 1024, ("", "Ki", "Mi", "Gi", "Ti", "Pi")
    size = 0
    while whole and whole % step == 0 and size + 1 < len(units):
        whole, size = whole // step, size + 1
    return f"{whole}{units[size]}"


class Names:
    """Random names and ids from one seeded source."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)

    def tail(self, n: int = 5) -> str:
        return "".join(self.r.choices(ALPHABET, k=n))

    def uid(self) -> str:
        h = f"{self.r.getrandbits(128):032x}"
        return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"

    def day(self, n: int) -> str:
        """The time of the nth object: anything, but always the same."""
        return f"2026-{1 + n % 10:02d}-{1 + n % 28:02d}T{n % 24:02d}:{n % 60:02d}:{n % 59:02d}Z"


def add(into: dict[str, int], other: dict[str, int]) -> None:
    for k, v in other.items():
        into[k] = into.get(k, 0) + v


def pod_figures(spec: dict, which: str) -> dict[str, int]:
    """The pod's effective requests or limits, in thousandths (the rule is in the module text)."""

    def container_amounts(c: dict) -> dict[str, int]:
        r = c.get("resources", {})
        return {k: milli(v) for k, v in r.get(which, {}).items()}

    total: dict[str, int] = {}
    for c in spec["containers"]:
        add(total, container_amounts(c))
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for c in spec.get("initContainers", []):
        if c.get("restartPolicy") == "Always":
            add(total, container_amounts(c))
            add(sidecars, container_amounts(c))
            now = dict(sidecars)
        else:
            now = dict(sidecars)
            add(now, container_amounts(c))
        for k, v in now.items():
            peak[k] = max(peak.get(k, 0), v)
    for k, v in peak.items():
        total[k] = max(total.get(k, 0), v)
    for k, v in spec.get("resources", {}).get(which, {}).items():
        total[k] = milli(v)
    for k, v in spec.get("overhead", {}).items():
        if which == "requests" or k in total:
            total[k] = total.get(k, 0) + milli(v)
    return total


def qos_class(spec: dict) -> str:
    """Only for the shapes made here: pod-level resources win when set."""

    def pick(r: dict, which: str) -> dict[str, int]:
        return {k: milli(v) for k, v in r.get(which, {}).items() if k in ("cpu", "memory") and milli(v)}

    parts = (
        [spec["resources"]]
        if spec.get("resources")
        else [c.get("resources", {}) for c in spec["containers"] + spec.get("initContainers", [])]
    )
    if not any(pick(r, "requests") or pick(r, "limits") for r in parts):
        return "BestEffort"
    for r in parts:
        limits = pick(r, "limits")
        if set(limits) != {"cpu", "memory"} or pick(r, "requests") != limits:
            return "Burstable"
    return "Guaranteed"


class Specs:
    """Specs of pods of many shapes, from one seed."""

    def __init__(self, nodes: int, namespaces: int, seed: int, *more: str) -> None:
        """``more``: namespaces beyond the number that is asked for."""
        self.names = Names(seed)
        self.r = self.names.r
        self.serial = 0
        self.nodes = [f"ip-10-{i // 250}-{i % 250}-17.eu-west-1.compute.internal" for i in range(nodes)]
        self.ns = ["default", "kube-public", "kube-system", "tekton-pipelines"]
        i = 0
        while len(self.ns) < namespaces:
            self.ns.append(f"{TEAMS[i % len(TEAMS)]}-{WORDS[i % len(WORDS)]}-{i:03d}")
            i += 1
        self.ns = sorted([*self.ns[:namespaces], *more])

    def meta(self, name: str, ns: str = "", **more: object) -> dict:
        """Metadata with an id, a version and a time of its own."""
        self.serial += 1
        return {
            "name": name,
            **({"namespace": ns} if ns else {}),
            "uid": self.names.uid(),
            "resourceVersion": str(RV0 + self.serial),
            "creationTimestamp": self.names.day(self.serial),
            **more,
        }

    # ---------------------------------------------------------------- resources
    def resources(self, kind: str) -> dict:
        r = self.r
        if kind == "BestEffort":
            return {}
        cpu, mem = r.randrange(len(RATES["cpu"])), r.randrange(len(RATES["memory"]))
        if kind == "Guaranteed":
            both = {"cpu": RATES["cpu"][cpu], "memory": RATES["memory"][mem]}
            return {"limits": both, "requests": dict(both)}
        out: dict = {"requests": {"cpu": RATES["cpu"][cpu], "memory": RATES["memory"][mem]}}
        shape = r.random()
        if shape < 0.55:
            up = [m for m in RATES["memory"] if milli(m) >= milli(RATES["memory"][mem])]
            out["limits"] = {"memory": r.choice(up)}
            if shape < 0.25:
                out["limits"]["cpu"] = RATES["cpu"][min(cpu + r.randrange(1, 4), len(RATES["cpu"]) - 1)]
        elif shape < 0.65:
            del out["requests"]["memory"]
        if r.random() < 0.02:
            out["requests"]["ephemeral-storage"] = r.choice(["1Gi", "2Gi", "10Gi"])
        return {k: dict(sorted(out[k].items())) for k in ("limits", "requests") if k in out}

    def container(self, name: str, app: str, kind: str, small: bool = False) -> dict:
        r = self.r
        c: dict = {
            "name": name,
            "image": f"registry.example.com/{app}/{name}:v{r.randrange(1, 9)}.{r.randrange(30)}.{r.randrange(9)}",
        }
        if not small:
            c["args"] = ["--config=/etc/app/config.yaml", f"--log-level={r.choice(['info', 'warn', 'debug'])}"]
            c["ports"] = [
                {"name": "http", "containerPort": 8080, "protocol": "TCP"},
                {"name": "metrics", "containerPort": 9090, "protocol": "TCP"},
            ]
            env: list[dict] = [
                {"name": f"{w.upper()}_URL", "value": f"http://{w}.{app}.svc.cluster.local:8080/v1"}
                for w in r.sample(WORDS, r.randrange(0, 4))
            ]
            env.append(
                {"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}
            )
            env.append({"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": f"{app}-db", "key": "password"}}})
            env.append(
                {"name": "GOMEMLIMIT", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "0"}}}
            )
            c["env"] = env
        c["resources"] = self.resources(kind)
        c["volumeMounts"] = [
            {
                "name": "kube-api-access-@V",
                "readOnly": True,
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
            }
        ]
        if not small:
            c["volumeMounts"].append({"name": "config", "mountPath": "/etc/app"})
            probe = {
                "httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"},
                "timeoutSeconds": 1,
                "periodSeconds": 10,
                "successThreshold": 1,
                "failureThreshold": 3,
            }
            c["livenessProbe"] = dict(probe, initialDelaySeconds=15)
            c["readinessProbe"] = dict(probe)
        c["terminationMessagePath"] = "/dev/termination-log"
        c["terminationMessagePolicy"] = "File"
        c["imagePullPolicy"] = "IfNotPresent"
        if not small:
            c["securityContext"] = {
                "capabilities": {"drop": ["ALL"]},
                "runAsNonRoot": True,
                "readOnlyRootFilesystem": True,
                "allowPrivilegeEscalation": False,
            }
        return c

    def spec(self, app: str, shape: str, *, task_level: bool = False) -> dict:
        """``task_level``: all steps of a Tekton pod have an equal share."""
        r = self.r
        kind = r.choices(["Guaranteed", "Burstable", "BestEffort"], [15, 60, 25])[0]
        extra: list[dict] = []
        containers: list[dict]
        if shape == "tekton":
            steps = ("clone", "build", "push")[: r.randrange(1, 4)]
            containers = [
                self.container(f"step-{s}", app, r.choice(["BestEffort", "Burstable"]), small=s != "build")
                for s in steps
            ]
            if task_level:
                share = {"cpu": r.choice(RATES["cpu"]), "memory": r.choice(RATES["memory"][:8])}
                for c in containers:
                    c["resources"] = {"limits": {"memory": "4Gi"}, "requests": dict(share)}
            for name in ("prepare", "place-scripts"):
                extra.append(self.container(name, app, "BestEffort", small=True))
        else:
            containers = [self.container(app, app, kind)]
            if r.random() < 0.12:
                containers.append(self.container("metrics-agent", app, kind, small=True))
            if shape == "sidecar":
                if r.random() < 0.5:
                    extra.append(self.container("migrate", app, kind, small=True))
                if r.random() < 0.7 or not extra:
                    side = self.container(
                        "mesh-proxy", app, "Guaranteed" if kind == "Guaranteed" else "Burstable", small=True
                    )
                    side["restartPolicy"] = "Always"
                    extra.append(side)
            if shape == "gpu":
                res = containers[0]["resources"]
                for k in ("limits", "requests"):
                    res.setdefault(k, {})["nvidia.com/gpu"] = "1"
            if shape == "hugepages":
                containers[0]["resources"] = {
                    k: {"cpu": "2", "hugepages-2Mi": "100Mi", "memory": "1Gi"} for k in ("limits", "requests")
                }
        spec: dict = {
            "volumes": [
                {"name": "config", "configMap": {"name": f"{app}-config", "defaultMode": 420}},
                {
                    "name": "kube-api-access-@V",
                    "projected": {
                        "sources": [
                            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                            {
                                "downwardAPI": {
                                    "items": [
                                        {
                                            "path": "namespace",
                                            "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                                        }
                                    ]
                                }
                            },
                        ],
                        "defaultMode": 420,
                    },
                },
            ]
        }
        if extra:
            spec["initContainers"] = extra
        spec["containers"] = containers
        spec.update(
            {
                "restartPolicy": "Never" if shape in ("tekton", "job") else "Always",
                **({"activeDeadlineSeconds": 5400} if shape == "tekton" else {}),
                "terminationGracePeriodSeconds": 30,
                "dnsPolicy": "ClusterFirst",
                "serviceAccountName": app,
                "serviceAccount": app,
                "nodeName": "@N",
                "securityContext": {"runAsUser": 65532, "fsGroup": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
                "imagePullSecrets": [{"name": "pull"}],
                "schedulerName": "default-scheduler",
                "tolerations": [
                    {
                        "key": "node.kubernetes.io/not-ready",
                        "operator": "Exists",
                        "effect": "NoExecute",
                        "tolerationSeconds": 300,
                    },
                    {
                        "key": "node.kubernetes.io/unreachable",
                        "operator": "Exists",
                        "effect": "NoExecute",
                        "tolerationSeconds": 300,
                    },
                ],
                "priority": 0,
                "enableServiceLinks": False,
                "preemptionPolicy": "PreemptLowerPriority",
            }
        )
        if shape == "podlevel":
            spec["resources"] = self.resources(r.choice(["Guaranteed", "Burstable"]))
            # The server refuses it at the pod level.
            spec["resources"]["requests"].pop("ephemeral-storage", None)
            for c in containers:
                c["resources"] = {}
        if shape == "overhead":
            spec["runtimeClassName"] = "gvisor"
            spec["overhead"] = {"cpu": "50m", "memory": "64Mi"}
        return spec
