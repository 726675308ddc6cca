"""Pods, quotas, LimitRanges and namespaces in the very lines of kubectl describe, as far as they are about the object
itself.

Left out are events, devices, spread constraints and scheduling groups; only usual kinds of volumes are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from kubectl_kres.model.objects import LAST_APPLIED, Raw
from kubectl_kres.render.text.line import columns
from kubectl_kres.reports.quota.describe import LimitRangeBlock, NamespaceBlock, QuotaBlock

Rows = Iterator[Sequence[str]]

#: The length from which kubectl breaks an annotation.
_LONG = 140

_HELP = {
    "Terminating": (
        "Matches all pods that have an active deadline. These pods have a limited lifespan on a node before being "
        "actively terminated by the system."
    ),
    "NotTerminating": (
        "Matches all pods that do not have an active deadline. These pods usually include long running pods whose "
        "container command is not expected to terminate."
    ),
    "BestEffort": (
        "Matches all pods that do not have resource requirements set. These pods have a best effort quality of service."
    ),
    "NotBestEffort": (
        "Matches all pods that have at least one resource requirement set. These pods have a burstable or guaranteed "
        "quality of service."
    ),
}
_LIMITS = ("Type", "Resource", "Min", "Max", "Default Request", "Default Limit", "Max Limit/Request Ratio")


def quota_lines(blocks: Iterable[QuotaBlock]) -> list[str]:
    """Return each quota aligned for itself, two empty lines between."""
    return _join_blocks(
        columns([("Name:", block.name), ("Namespace:", block.namespace), *_quota(block, "", " * ", "----")])
        for block in blocks
    )


def limit_range_lines(blocks: Iterable[LimitRangeBlock]) -> list[str]:
    return _join_blocks(columns([*_limit_range(block)]) for block in blocks)


def namespace_lines(block: NamespaceBlock) -> list[str]:
    return columns([*_namespace(block)])


def _join_blocks(texts: Iterable[list[str]]) -> list[str]:
    lines: list[str] = []
    for text in texts:
        lines += ["", "", *text] if lines else text
    return lines


def _quota(block: QuotaBlock, indent: str, bullet: str, rule: str) -> Rows:
    if block.scopes:
        yield (f"{indent}Scopes:", ", ".join(block.scopes))
        yield from ((f"{indent}{bullet}{_HELP[scope]}",) for scope in block.scopes if scope in _HELP)
    yield (f"{indent}Resource", "Used", "Hard")
    yield (f"{indent}--------", rule, rule)
    yield from ((f"{indent}{name}", used, hard) for name, used, hard in block.rows)


def _limit_range(block: LimitRangeBlock) -> Rows:
    yield ("Name:", block.name)
    yield ("Namespace:", block.namespace)
    yield _LIMITS
    yield tuple("-" * len(title) for title in _LIMITS)
    for item in block.items:
        yield from item


def _namespace(block: NamespaceBlock) -> Rows:
    yield ("Name:", block.name)
    yield from label_rows("Labels", block.labels)
    yield from annotation_rows(block.annotations)
    yield ("Status:", block.phase)
    yield ("",)
    if not block.quotas:
        yield ("No resource quota.",)
    else:
        yield ("Resource Quotas",)
        for quota in block.quotas:
            yield ("  Name:", quota.name)
            yield from _quota(quota, "  ", "* ", "---")
    yield ("",)
    if not block.limit_ranges:
        yield ("No LimitRange resource.",)
        return
    yield ("Resource Limits",)
    yield (f" {_LIMITS[0]}", *_LIMITS[1:])
    yield tuple(f"{' ' * (not index)}{'-' * len(title)}" for index, title in enumerate(_LIMITS))
    for limit_range in block.limit_ranges:
        for item in limit_range.items:
            yield from ((f" {row[0]}", *row[1:]) for row in item)


def label_rows(title: str, mapping: Mapping[str, str]) -> Rows:
    """``key=value`` line by line, sorted. Source: kubectl describe.go printLabelsMultiline."""
    texts = [f"{key}={mapping[key]}" for key in sorted(mapping)] or ["<none>"]
    yield from titled_rows(title, texts)


def annotation_rows(mapping: Mapping[str, str]) -> Rows:
    """Source: kubectl describe.go printAnnotationsMultiline."""
    texts: list[str] = []
    for key in sorted(set(mapping) - {LAST_APPLIED}):
        value = mapping[key].removesuffix("\n")
        if len(value) + len(key) + 2 > _LONG or "\n" in value:
            texts.append(f"{key}:")
            texts += [f"  {line[: _LONG - 2]}{'...' * (len(line) > _LONG - 2)}" for line in value.split("\n")]
        else:
            texts.append(f"{key}: {value}")
    yield from titled_rows("Annotations", texts or ["<none>"])


def titled_rows(title: str, texts: Sequence[str]) -> Rows:
    yield from (("" if index else f"{title}:", text) for index, text in enumerate(texts))


#: What Go's URL leaves as it is in a path.
_SAFE = "/$&+,:;=@!'()*"

PodRows = Iterator[Sequence[str]]
_NONE = "<none>"
_HIDDEN = "<not shown>"


def pod_lines(raw: Raw, *, events: bool = True) -> list[str]:
    """``raw``: a pod as the server returns it; values of environment variables are not shown.

    ``events``: the last line says that there are none. Source: kubectl describe.go describePod.
    """
    meta, spec, status = (raw.get(key) or {} for key in ("metadata", "spec", "status"))
    last = [("Events:", _NONE)] if events else []
    return columns([*_head(meta, spec, status), *_containers(spec, status), *_footer_rows(spec, status), *last])


def _head(meta: Raw, spec: Raw, status: Raw) -> PodRows:
    yield ("Name:", meta.get("name", ""))
    yield ("Namespace:", meta.get("namespace", ""))
    yield from _optional_row("Priority", spec.get("priority"))
    yield from _optional_row("Priority Class Name", spec.get("priorityClassName") or None)
    yield from _optional_row("Runtime Class Name", spec.get("runtimeClassName") or None)
    yield from _optional_row("Service Account", spec.get("serviceAccountName") or None)
    node = spec.get("nodeName")
    yield ("Node:", f"{node}/{status.get('hostIP', '')}" if node else _NONE)
    yield from _optional_row("Start Time", _format_time(status.get("startTime")))
    yield from label_rows("Labels", meta.get("labels") or {})
    yield from annotation_rows(meta.get("annotations") or {})
    yield ("Status:", status.get("phase", ""))
    yield from _optional_row("Reason", status.get("reason") or None)
    yield from _optional_row("Message", status.get("message") or None)
    yield ("IP:", status.get("podIP", ""))
    addresses = status.get("podIPs") or ()
    yield ("IPs:",) if addresses else ("IPs:", _NONE)
    yield from (("  IP:", address.get("ip", "")) for address in addresses)
    owners = [owner for owner in meta.get("ownerReferences") or () if owner.get("controller")]
    yield from _optional_row("Controlled By", f"{owners[0]['kind']}/{owners[0]['name']}" if owners else None)
    yield from _optional_row("NominatedNodeName", status.get("nominatedNodeName") or None)
    if spec.get("resources") is not None:
        yield ("Resources:",)
        yield from _resources(spec["resources"], "  ")


def _optional_row(title: str, value: Any) -> PodRows:
    if value is not None:
        yield (f"{title}:", str(value))


def _format_time(text: str | None) -> str | None:
    """RFC 1123 with a numeric zone, as kubectl prints times; in the zone they are written in."""
    return None if text is None else datetime.fromisoformat(text).strftime("%a, %d %b %Y %H:%M:%S %z")


def _resources(mapping: Raw, indent: str) -> PodRows:
    for title, side in (("Limits", "limits"), ("Requests", "requests")):
        values = mapping.get(side) or {}
        if values:
            yield (f"{indent}{title}:",)
        yield from ((f"{indent}  {name}:", str(values[name])) for name in sorted(values))


def _containers(spec: Raw, status: Raw) -> PodRows:
    for title, key, reported in (
        ("Init Containers", "initContainers", "initContainerStatuses"),
        ("Containers", "containers", "containerStatuses"),
        ("Ephemeral Containers", "ephemeralContainers", "ephemeralContainerStatuses"),
    ):
        result = spec.get(key) or ()
        if result:
            yield (f"{title}:",)
        statuses = {item.get("name"): item for item in status.get(reported) or ()}
        for container in result:
            yield from _container(container, statuses.get(container.get("name")))


def _container(container: Raw, status: Raw | None) -> PodRows:
    yield (f"  {container.get('name', '')}:",)
    if status is not None:
        yield ("    Container ID:", status.get("containerID", ""))
    yield ("    Image:", container.get("image", ""))
    if status is not None:
        yield ("    Image ID:", status.get("imageID", ""))
    ports = container.get("ports") or ()
    for title, key in (("Port", "containerPort"), ("Host Port", "hostPort")):
        texts = [_port(port, key) for port in ports]
        yield (f"    {title}{'s' * (len(texts) > 1)}:", ", ".join(texts) or _NONE)
    for title, key in (("Command", "command"), ("Args", "args")):
        words = container.get(key) or ()
        if words:
            yield (f"    {title}:",)
        yield from ((f"      {line}",) for word in words for line in str(word).split("\n"))
    if status is not None:
        yield from _state(status)
    yield from _resources(container.get("resources") or {}, "    ")
    for title in ("Liveness", "Readiness", "Startup"):
        yield from ((f"    {title}:", _probe(item)) for item in [container.get(f"{title.lower()}Probe")] if item)
    yield from _environment(container)
    yield from _mounts(container)


def _port(port: Raw, key: str) -> str:
    name = f" ({port['name']})" if port.get("name") else ""
    return f"{port.get(key, 0)}/{port.get('protocol', 'TCP')}{name}"


def _state(status: Raw) -> PodRows:
    yield from _one_state("State", status.get("state") or {})
    if (status.get("lastState") or {}).get("terminated"):
        yield from _one_state("Last State", status["lastState"])
    yield ("    Ready:", str(bool(status.get("ready"))))
    yield ("    Restart Count:", str(status.get("restartCount", 0)))


def _one_state(title: str, state: Raw) -> PodRows:
    running, waiting, ended = (state.get(key) for key in ("running", "waiting", "terminated"))
    if running is not None:
        yield (f"    {title}:", "Running")
        yield from (("      Started:", text) for text in [_format_time(running.get("startedAt"))] if text)
    elif ended is not None:
        yield (f"    {title}:", "Terminated")
        yield from ((f"      {key.capitalize()}:", ended[key]) for key in ("reason", "message") if ended.get(key))
        yield ("      Exit Code:", str(ended.get("exitCode", 0)))
        yield from (("      Signal:", str(ended["signal"])) for _ in [0] if ended.get("signal"))
        for name, key in (("Started", "startedAt"), ("Finished", "finishedAt")):
            yield from ((f"      {name}:", text) for text in [_format_time(ended.get(key))] if text)
    else:
        yield (f"    {title}:", "Waiting")
        yield from (("      Reason:", text) for text in [(waiting or {}).get("reason")] if text)


def _environment(container: Raw) -> PodRows:
    sources = container.get("envFrom") or ()
    if sources:
        yield ("    Environment Variables from:",)
    for source in sources:
        kind = "ConfigMap" if "configMapRef" in source else "Secret"
        config_map_ref = source.get("configMapRef") or source.get("secretRef") or {}
        prefix = f" with prefix '{source['prefix']}'" if source.get("prefix") else ""
        yield (f"      {config_map_ref.get('name', '')}", f"{kind}{prefix}", _optional(config_map_ref))
    variables = container.get("env") or ()
    yield ("    Environment:",) if variables else ("    Environment:", _NONE)
    for variable in variables:
        yield from _variable(variable)


def _variable(variable: Raw) -> PodRows:
    name, origin = variable.get("name", ""), variable.get("valueFrom")
    if origin is None:
        yield (f"      {name}:", _HIDDEN if variable.get("value") else "")
    elif "secretKeyRef" in origin:
        reference = origin["secretKeyRef"]
        yield (
            f"      {name}:",
            f"<set to the key '{reference['key']}' in secret '{reference['name']}'>",
            _optional(reference),
        )
    elif "configMapKeyRef" in origin:
        reference = origin["configMapKeyRef"]
        yield (
            f"      {name}:",
            f"<set to the key '{reference['key']}' of config map '{reference['name']}'>",
            _optional(reference),
        )
    elif "fieldRef" in origin:
        reference = origin["fieldRef"]
        yield (f"      {name}:", f" ({reference.get('apiVersion', 'v1')}:{reference['fieldPath']})")
    elif "resourceFieldRef" in origin:
        yield (f"      {name}:", f" ({origin['resourceFieldRef']['resource']})")


def _optional(mapping: Raw) -> str:
    return f"Optional: {str(bool(mapping.get('optional'))).lower()}"


def _mounts(container: Raw) -> PodRows:
    mounts = sorted(container.get("volumeMounts") or (), key=lambda mount: mount["mountPath"])
    yield ("    Mounts:",) if mounts else ("    Mounts:", _NONE)
    for mount in mounts:
        flags = ["ro" if mount.get("readOnly") else "rw"]
        flags += [f'path="{mount["subPath"]}"'] if mount.get("subPath") else []
        yield (f"      {mount['mountPath']} from {mount['name']} ({','.join(flags)})",)


def _footer_rows(spec: Raw, status: Raw) -> PodRows:
    conditions = status.get("conditions") or ()
    if conditions:
        yield ("Conditions:",)
        yield ("  Type", "Status")
    yield from ((f"  {condition['type']} ", f"{condition['status']} ") for condition in conditions)
    volumes = spec.get("volumes") or ()
    yield ("Volumes:",) if volumes else ("Volumes:", _NONE)
    for volume in volumes:
        yield (f"  {volume['name']}:",)
        yield from ((f"    {key}:", value) for key, value in _volume(volume))
    yield ("QoS Class:", status.get("qosClass", ""))
    yield from label_rows("Node-Selectors", spec.get("nodeSelector") or {})
    tolerations = sorted(spec.get("tolerations") or (), key=lambda value: value.get("key", ""))
    yield from titled_rows("Tolerations", [*map(_toleration, tolerations)] or [_NONE])


def _toleration(mapping: Raw) -> str:
    text = mapping.get("key", "")
    text += f"={mapping['value']}" if mapping.get("value") else ""
    text += f":{mapping['effect']}" if mapping.get("effect") else ""
    if mapping.get("operator") == "Exists" and not mapping.get("value"):
        text += " op=Exists" if text else "op=Exists"
    seconds = mapping.get("tolerationSeconds")
    return text if seconds is None else f"{text} for {seconds}s"


def _volume(volume: Raw) -> Iterator[tuple[str, str]]:
    """Title and value of what is reported of a volume."""
    if "emptyDir" in volume:
        empty_dir = volume["emptyDir"] or {}
        yield "Type", "EmptyDir (a temporary directory that shares a pod's lifetime)"
        yield from (
            ("Medium", empty_dir.get("medium", "")),
            ("SizeLimit", str(empty_dir.get("sizeLimit") or "<unset>")),
        )
    elif "secret" in volume:
        yield "Type", "Secret (a volume populated by a Secret)"
        yield from (("SecretName", volume["secret"].get("secretName", "")), _flag("Optional", volume["secret"]))
    elif "configMap" in volume:
        yield "Type", "ConfigMap (a volume populated by a ConfigMap)"
        yield from (("Name", volume["configMap"].get("name", "")), _flag("Optional", volume["configMap"]))
    elif "persistentVolumeClaim" in volume:
        empty_dir = volume["persistentVolumeClaim"]
        yield "Type", "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)"
        yield from (("ClaimName", empty_dir.get("claimName", "")), _flag("ReadOnly", empty_dir))
    elif "hostPath" in volume:
        empty_dir = volume["hostPath"]
        yield "Type", "HostPath (bare host directory volume)"
        yield from (("Path", empty_dir.get("path", "")), ("HostPathType", empty_dir.get("type", _NONE)))
    elif "projected" in volume:
        yield "Type", "Projected (a volume that contains injected data from multiple sources)"
        for source in volume["projected"].get("sources") or ():
            yield from _projected_source_rows(source)


def _projected_source_rows(source: Raw) -> Iterator[tuple[str, str]]:
    if "secret" in source:
        yield from (("SecretName", source["secret"].get("name", "")), _flag("Optional", source["secret"]))
    elif "downwardAPI" in source:
        yield "DownwardAPI", "true"
    elif "configMap" in source:
        yield from (("ConfigMapName", source["configMap"].get("name", "")), _flag("Optional", source["configMap"]))
    elif "serviceAccountToken" in source:
        yield "TokenExpirationSeconds", str(source["serviceAccountToken"].get("expirationSeconds", 3600))


def _flag(title: str, mapping: Raw) -> tuple[str, str]:
    key = title[0].lower() + title[1:]
    return title, str(bool(mapping.get(key))).lower()


def _probe(probe: Mapping[str, Any]) -> str:
    """Return how the container is asked, and how often. Source: kubectl describe.go DescribeProbe."""
    delay, timeout, period = (probe.get(f"{key}Seconds", 0) for key in ("initialDelay", "timeout", "period"))
    success, failure = (probe.get(f"{key}Threshold", 0) for key in ("success", "failure"))
    often = f"delay={delay}s timeout={timeout}s period={period}s #success={success} #failure={failure}"
    return f"{_format_probe_action(probe)} {often}"


def _format_probe_action(probe: Mapping[str, Any]) -> str:
    if probe.get("exec") is not None:
        return f"exec [{' '.join(map(str, probe['exec'].get('command') or ()))}]"
    if probe.get("httpGet") is not None:
        http_get = probe["httpGet"]
        path = quote(str(http_get.get("path", "")), safe=_SAFE)
        scheme = str(http_get.get("scheme", "")).lower()
        return f"http-get {scheme}{':' * bool(scheme)}//{_host(http_get)}{path}"
    if probe.get("tcpSocket") is not None:
        http_get = probe["tcpSocket"]
        return f"tcp-socket {http_get.get('host', '')}:{http_get.get('port', '')}"
    if probe.get("grpc") is not None:
        return f"grpc <pod>:{probe['grpc'].get('port', 0)} {probe['grpc'].get('service', '')}"
    return "unknown"


def _host(mapping: Mapping[str, Any]) -> str:
    """Host and port; an address of IPv6 stands in brackets."""
    host = str(mapping.get("host", ""))
    return f"{f'[{host}]' if ':' in host else host}:{mapping.get('port', '')}"
