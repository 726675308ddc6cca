"""What the well-known libraries of policies check and set, written in CEL for this test: one text a check.

The checks are those of Pod Security, of Gatekeeper's and Kyverno's libraries and of the pages of Kubernetes; the words
are ours. ``{...}`` are filled in by ``filled``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

AMOUNTS = ("100m", "250m", "500m", "1", "2", "64Mi", "128Mi", "1Gi", "1G", "0", "1500m", "1000m")
FILLERS: Mapping[str, tuple[str, ...]] = {
    "side": ("requests", "limits"),
    "resource": ("cpu", "memory", "memory", "cpu", "ephemeral-storage"),
    "amount": AMOUNTS,
    "more": AMOUNTS,
    "count": ("0", "1", "2", "3"),
    "ratio": ("1", "2", "4", "10"),
    "list": ("containers", "containers", "initContainers"),
    "registry": ("registry.example.com/", "docker.io/", "img", "ghcr.io/team"),
    "label": ("app", "team", "example.com/owner", "policy"),
    "class": ("Guaranteed", "Burstable", "BestEffort"),
}

#: Hold or do not hold for a pod.
CHECKS = (
    # Requests and limits: there at all, within bounds, in proportion.
    "object.spec.containers.all(c, has(c.resources) && has(c.resources.{side}) && '{resource}' in c.resources.{side})",
    "object.spec.containers.all(c, has(c.resources.{side}))",
    "object.spec.containers.all(c, '{resource}' in c.resources.{side})",
    "object.spec.{list}.all(c, c.?resources.?{side}[?'{resource}'].hasValue())",
    "object.spec.?{list}.orValue([]).all(c, '{resource}' in c.?resources.?{side}.orValue({}))",
    "!object.spec.containers.exists(c, !has(c.resources.{side}) || !('{resource}' in c.resources.{side}))",
    "object.spec.containers.all(c, quantity(c.resources.{side}['{resource}']).isLessThan(quantity('{amount}')))",
    "object.spec.containers.all(c, !quantity(c.resources.{side}.{plain}).isGreaterThan(quantity('{amount}')))",
    (
        "object.spec.containers.all(c, quantity(c.?resources.?{side}[?'{resource}'].orValue('0')).compareTo("
        "quantity('{amount}')) <= 0)"
    ),
    (
        "object.spec.containers.all(c, !has(c.resources.limits) || !has(c.resources.limits.{plain}) || "
        "quantity(c.resources.limits.{plain}).compareTo(quantity('{amount}')) != 1)"
    ),
    "object.spec.containers.all(c, c.?resources.requests == c.?resources.limits)",
    "object.spec.containers.all(c, c.resources.requests == c.resources.limits)",
    (
        "object.spec.containers.all(c, quantity(c.resources.requests['{resource}']).compareTo("
        "quantity(c.resources.limits['{resource}'])) == 0)"
    ),
    (
        "object.spec.containers.all(c, quantity(c.resources.limits.cpu).asInteger() <= "
        "quantity(c.resources.requests.cpu).asInteger() * {ratio})"
    ),
    (
        "object.spec.containers.all(c, quantity(c.resources.limits.memory).asApproximateFloat() <= "
        "quantity(c.resources.requests.memory).asApproximateFloat() * {ratio}.0)"
    ),
    "object.spec.containers.all(c, !has(c.resources.limits) || !('cpu' in c.resources.limits))",
    (
        "object.spec.containers.map(c, c.?resources.?{side}[?'{resource}'].orValue('0')).map(q, quantity(q)).all("
        "q, q.isLessThan(quantity('{amount}').add(quantity('{more}'))))"
    ),
    (
        "object.spec.containers.map(c, quantity(c.?resources.?{side}[?'{resource}'].orValue('0')).asApproximateFloat())"
        ".sum() <= quantity('{amount}').asApproximateFloat()"
    ),
    "object.spec.containers.filter(c, has(c.resources.{side})).size() >= {count}",
    "size(object.spec.containers) <= {count}",
    "object.spec.containers.exists_one(c, '{resource}' in c.?resources.?{side}.orValue({}))",
    "object.spec.containers.all(c, c.?resources.?{side}.orValue({}).all(name, value, isQuantity(value)))",
    "object.spec.containers.all(c, c.?resources.?limits.orValue({}).all(r, r in ['cpu', 'memory']))",
    "object.spec.containers.all(c, sets.contains(['cpu', 'memory'], c.?resources.?requests.orValue({}).map(r, r)))",
    (
        "object.spec.containers.transformList(i, c, c.name + '=' + c.?resources.?{side}[?'{resource}'].orValue('none'))"
        ".exists(s, s.endsWith('none'))"
    ),
    "quantity(object.spec.?resources.?{side}[?'{resource}'].orValue('{amount}')).isLessThan(quantity('{more}'))",
    "has(object.spec.resources) || object.spec.containers.all(c, has(c.resources))",
    "object.spec.?overhead.orValue({}).all(r, quantity(object.spec.overhead[r]).sign() >= 0)",
    "object.spec.containers.all(c, quantity(c.resources.{side}.{plain}).sub(quantity('{amount}')).sign() < 1)",
    "object.spec.containers.all(c, quantity(c.resources.{side}.{plain}).isInteger())",
    "object.spec.containers.all(c, c.resources.{side}.{plain}.matches('^[0-9]+(m|Mi|Gi)?$'))",
    "object.spec.containers.all(c, c.?resources.?claims.orValue([]).size() == 0)",
    # Quality of service, and what decides about a place.
    "object.status.qosClass == '{class}'",
    "object.status.?qosClass.orValue('') in ['{class}', 'Guaranteed']",
    "object.spec.?priorityClassName.orValue('') == ''",
    "object.spec.priority <= {count}",
    "object.spec.tolerations.all(t, t.?effect.orValue('') == 'NoExecute')",
    "object.spec.tolerations.size() == {count}",
    "!has(object.spec.nodeName)",
    "object.spec.?nodeSelector.orValue({}).size() == 0",
    "object.spec.?restartPolicy.orValue('') == 'Always'",
    "object.spec.terminationGracePeriodSeconds <= 30 * ({count} + 1)",
    "object.spec.?terminationGracePeriodSeconds.orValue(0) > {count}",
    # Images.
    "object.spec.containers.all(c, c.image.startsWith('{registry}'))",
    "object.spec.containers.all(c, c.image.contains(':') && !c.image.endsWith(':latest'))",
    "(object.spec.containers + object.spec.?initContainers.orValue([])).all(c, c.image.contains('@sha256:'))",
    "object.spec.containers.map(c, c.image.split('/')[0]).all(r, r in ['{registry}', 'registry.example.com'])",
    "object.spec.containers.all(c, c.imagePullPolicy == 'Always')",
    "object.spec.containers.all(c, c.image.lowerAscii() == c.image && c.image.size() < 30)",
    "object.spec.containers.all(c, c.image.find('[a-z]+') != '')",
    "object.spec.containers.all(c, c.image.lastIndexOf(':') > c.image.indexOf('/'))",
    # Labels and names.
    "has(object.metadata.labels) && '{label}' in object.metadata.labels",
    "object.metadata.?labels[?'{label}'].orValue('') != ''",
    "object.metadata.labels['{label}'].matches('^[a-z0-9-]+$')",
    "object.metadata.labels.{word} == 'x'",
    "object.metadata.labels.all(key, key.size() < 20)",
    "object.metadata.labels.exists(k, v, v.startsWith('p'))",
    "!object.metadata.name.startsWith('{word}') || object.metadata.namespace != 'default'",
    "object.metadata.?annotations.orValue({}).size() <= {count}",
    "object.metadata.?ownerReferences.orValue([]).size() > 0",
    "object.metadata.namespace == namespaceObject.metadata.name",
    "namespaceObject.metadata.?labels['{label}'].orValue('none') == 'none'",
    "request.operation == 'CREATE' && request.resource.resource == 'pods'",
    "request.namespace == object.metadata.namespace && request.name == object.metadata.name",
    "request.kind.kind + '/' + request.kind.version == 'Pod/v1'",
    "oldObject == null",
    "has(request.subResource) && request.subResource == ''",
    # Security.
    "!object.spec.?hostNetwork.orValue(false) && !object.spec.?hostPID.orValue(false)",
    "object.spec.hostNetwork != true",
    "object.spec.containers.all(c, !c.?securityContext.?privileged.orValue(false))",
    (
        "object.spec.containers.all(c, c.?securityContext.?runAsNonRoot.orValue("
        "object.spec.?securityContext.?runAsNonRoot.orValue(false)))"
    ),
    (
        "object.spec.containers.all(c, has(c.securityContext) && has(c.securityContext.allowPrivilegeEscalation) && "
        "c.securityContext.allowPrivilegeEscalation == false)"
    ),
    "object.spec.containers.all(c, c.securityContext.readOnlyRootFilesystem)",
    "object.spec.containers.all(c, c.?securityContext.?capabilities.?drop.orValue([]).exists(d, d == 'ALL'))",
    (
        "object.spec.containers.all(c, c.?securityContext.?capabilities.?add.orValue([]).all("
        "a, a in ['NET_BIND_SERVICE', 'CHOWN']))"
    ),
    "object.spec.?securityContext.?seccompProfile.?type.orValue('') in ['RuntimeDefault', 'Localhost']",
    "object.spec.?securityContext.?sysctls.orValue([]).all(s, s.name in ['net.ipv4.ip_local_port_range'])",
    "object.spec.?volumes.orValue([]).all(v, !has(v.hostPath))",
    "object.spec.volumes.all(v, has(v.configMap) || has(v.emptyDir) || has(v.secret))",
    "object.spec.?volumes.orValue([]).filter(v, has(v.emptyDir)).all(v, has(v.emptyDir.sizeLimit))",
    "object.spec.?automountServiceAccountToken.orValue(true) == false",
    "object.spec.?serviceAccountName.orValue('default') == 'default'",
    "object.spec.?shareProcessNamespace.orValue(false) == false",
    # Ports, probes, variables.
    "object.spec.containers.all(c, !has(c.ports) || c.ports.all(p, !has(p.hostPort) || p.hostPort == 0))",
    "object.spec.containers.all(c, c.?ports.orValue([]).all(p, p.containerPort > 1024 && p.protocol == 'TCP'))",
    "object.spec.containers.all(c, has(c.livenessProbe) && has(c.readinessProbe))",
    "object.spec.containers.all(c, c.?livenessProbe.?periodSeconds.orValue(10) <= 10 * {count})",
    (
        "object.spec.containers.all(c, !has(c.livenessProbe) || !has(c.readinessProbe) || "
        "c.livenessProbe != c.readinessProbe)"
    ),
    "object.spec.containers.all(c, !has(c.env) || c.env.all(e, has(e.valueFrom) || e.value.size() < 20))",
    "object.spec.containers.all(c, c.?volumeMounts.orValue([]).all(m, m.?readOnly.orValue(false)))",
    "object.spec.containers.all(c, c.?command.orValue([]).size() + c.?args.orValue([]).size() == 0)",
    (
        "object.spec.containers.all(c, c.terminationMessagePolicy == 'File' && c.terminationMessagePath == "
        "'/dev/termination-log')"
    ),
    # Functions.
    "object.spec.containers.map(c, c.name).isSorted()",
    "object.spec.containers.map(c, c.name).join(',').size() < 6 * ({count} + 1)",
    "object.spec.containers.map(c, size(c.name)).max() <= {count}",
    "object.spec.containers.map(c, c.image).distinct().size() == object.spec.containers.size()",
    "object.spec.containers.map(c, c.?ports.orValue([])).flatten().size() <= {count}",
    "object.spec.containers.sortBy(c, c.name)[0].name == 'c0'",
    "sets.intersects(object.spec.containers.map(c, c.name), ['c1', 'c2'])",
    "sets.equivalent(object.spec.containers.map(c, c.name), ['c0'])",
    "'%s has %d' .format([object.metadata.name, size(object.spec.containers)]).size() > {count}",
    (
        "isURL('https://' + object.spec.containers[0].image) && url('https://' + object.spec.containers[0].image)"
        ".getHost()"
        " != ''"
    ),
    "!has(object.spec.hostAliases) || object.spec.hostAliases.all(a, isIP(a.ip) && ip(a.ip).family() == 4)",
    "cidr('10.0.0.0/8').containsIP('10.{count}.0.1')",
    "format.dns1123Label().validate(object.metadata.name).hasValue()",
    "!format.dns1123Subdomain().validate(object.spec.containers[0].image).hasValue()",
    "isSemver('1.{count}.0') && semver('1.{count}.0').isLessThan(semver('1.2.0'))",
    "object.spec.containers[{count}].name == 'c{count}'",
    "object.spec.containers[?{count}].?name.orValue('') != ''",
    "object.spec.initContainers.all(c, c.?restartPolicy.orValue('') == 'Always')",
    "type(object.spec.containers) == list && type(object.metadata.labels) == map",
    "dyn(object.spec.terminationGracePeriodSeconds) == 30.0",
    "duration('1h').getSeconds() > object.spec.?activeDeadlineSeconds.orValue({count})",
    "timestamp('2026-01-01T00:00:00Z').getFullYear() == 2026",
    "[1, 2, 3].exists(n, n == object.spec.containers.size())",
    "{'a': 1, 'b': 2}.all(k, v, v >= object.spec.containers.size())",
    "object.spec.containers.all(i, c, i < {count} || has(c.resources.{side}))",
    "object.spec.containers.transformMapEntry(i, c, {c.name: c.image}).size() == object.spec.containers.size()",
)

#: What a check says; empty: the server says the expression.
MESSAGES = (
    "object.metadata.name + ' asks for too much'",
    "'%d of %s' .format([object.spec.containers.size(), object.metadata.name])",
    "'containers: ' + object.spec.containers.map(c, c.name).join(', ')",
    "object.spec.containers.filter(c, !has(c.resources.limits)).map(c, c.name).join(',')",
    "'limit is ' + object.spec.containers[0].resources.limits.cpu",
    "'line\\nbreak'",
    "''",
    "'%s' .format([object.spec.containers[0].resources])",
    "'pods of ' + namespaceObject.metadata.name + ' need ' + string(object.spec.containers.size()) + ' limits'",
    "object.metadata.labels.team",
    "'\"' + request.operation + '\" <b> & more'",
)
CONDITIONS = (
    "object.metadata.name != 'p1'",
    "object.spec.containers.size() > 1",
    "has(object.spec.initContainers)",
    "request.operation == 'CREATE'",
    "object.spec.initContainers.size() == 1",
    "object.spec.?hostNetwork.orValue(false)",
    "object.metadata.labels.exists(k, k == 'team')",
)
#: Name and text; a check may use those before it.
VARIABLES = (
    ("cs", "object.spec.containers"),
    ("all", "object.spec.containers + object.spec.?initContainers.orValue([])"),
    ("bad", "object.spec.containers.filter(c, !has(c.resources.limits))"),
    ("memory", "object.spec.containers[0].resources.limits.memory"),
    ("count", "size(object.spec.containers)"),
    ("big", "quantity(object.spec.containers[0].?resources.?limits[?'cpu'].orValue('2'))"),
    ("names", "object.spec.containers.map(c, c.name)"),
)
OF_VARIABLES = (
    "variables.cs.all(c, has(c.resources.{side}))",
    "variables.all.all(c, '{resource}' in c.?resources.?{side}.orValue({}))",
    "variables.bad.size() == 0",
    "quantity(variables.memory).isLessThan(quantity('{amount}'))",
    "variables.count <= {count}",
    "variables.big.isLessThan(quantity('{amount}'))",
    "variables.names.exists(n, n == 'c1')",
    "variables.names[{count}] == 'c{count}' && variables.count > 0",
)
_HOLE = re.compile(r"\{(side|resource|plain|amount|more|count|ratio|list|registry|label|word|class)\}")


def filled(text: str, rng: random.Random) -> str:
    """With a value for each hole, the same one for the same hole."""
    values = {key: rng.choice(choices) for key, choices in FILLERS.items()}
    values["plain"] = rng.choice(("cpu", "memory"))
    values["word"] = rng.choice(("app", "team", "c", "p"))
    return _HOLE.sub(lambda match: values[match[1]], text)
