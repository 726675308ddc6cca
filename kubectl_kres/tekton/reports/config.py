"""Tekton's configuration: the reads for it, its values, and the assumptions where it could not be read.

It also makes a row for each resource of the one LimitRange that Tekton makes of all in a namespace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.model import tekton_config
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.provenance.journal import Assumption
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tekton.reports.part import MergedLimit
from kubectl_kres.tekton.rules.base.config import TektonConfig, parse_config
from kubectl_kres.tekton.rules.resources.container_draft import Sourced
from kubectl_kres.tekton.rules.resources.virtual_limitrange import virtuals

_WEBHOOK = ReadRequest("CustomResourceDefinition", name=tekton_config.DEFINITION, required=False)

#: Where distributions put it, for users who may not read the definition.
OTHER = "openshift-pipelines"

_UNKNOWN = "tekton/config-unknown"
_FLAG = "--tekton-config FILE gives it"


def configuration_needs(store: Store) -> Iterator[ReadRequest]:
    """Yield the ConfigMaps, first where Tekton's own release puts them; elsewhere once they are known not to be there.

    There are no reads where files hold all of them.
    """
    if all(_in_file(store, name) for name in tekton_config.CONFIG_NAMES):
        return
    yield from (_build_read_request(tekton_config.NAMESPACE, name) for name in tekton_config.CONFIG_NAMES)
    if _is_config_absent(store, tekton_config.NAMESPACE):
        yield _WEBHOOK
        if store.covered(_WEBHOOK).state != "unread":
            yield from (_build_read_request(_config_namespace(store), name) for name in tekton_config.CONFIG_NAMES)


def _build_read_request(namespace: str, name: str) -> ReadRequest:
    return ReadRequest("ConfigMap", namespace, name, required=False)


def _is_config_absent(store: Store, namespace: str) -> bool:
    """Return whether a ConfigMap of every release of Tekton is known to be absent from the namespace, and was found
    nowhere else.
    """
    return (
        store.covered(_build_read_request(namespace, tekton_config.INFO)).is_known
        and store.get("ConfigMap", tekton_config.INFO, namespace) is None
    )


def _config_namespace(store: Store) -> str:
    custom_resource_definition = store.get("CustomResourceDefinition", tekton_config.DEFINITION)
    namespace_text = (
        custom_resource_definition.webhook_namespace
        if isinstance(custom_resource_definition, tekton_config.CustomResourceDefinition)
        else ""
    )
    return namespace_text or OTHER


def _in_file(store: Store, name: str) -> bool:
    return any(ref.kind == "ConfigMap" and ref.name == name for ref in store.files)


def configuration(store: Store, options: EvaluationOptions) -> TektonConfig:
    """Return Tekton's configuration, the default one where it is not known; ``remarks`` says so."""
    config_maps = {name: config_map(store, name) for name in tekton_config.CONFIG_NAMES}
    return parse_config(
        config_maps[tekton_config.DEFAULTS],
        config_maps[tekton_config.FLAGS],
        config_maps[tekton_config.INFO] or _labelled_info(store),
        options.read_yaml,
    )


#: The label of a release on what it installs.
_RELEASE = "pipeline.tekton.dev/release"


def _labelled_info(store: Store) -> tekton_config.ConfigMap | None:
    """Return what the definition of TaskRuns says of the version; None: it was not read, or has no such label."""
    definition = store.get("CustomResourceDefinition", tekton_config.DEFINITION)
    release = (definition.metadata.labels or {}).get(_RELEASE, "") if definition is not None else ""
    return tekton_config.ConfigMap(data=tekton_config.ConfigMapData(version=release)) if release else None


def config_map(store: Store, name: str) -> tekton_config.ConfigMap | None:
    """Return a ConfigMap of a file before the cluster's, from whatever namespace; of the cluster's the one beside the
    webhook.
    """
    config_maps = [
        config_map
        for config_map in store.all("ConfigMap")
        if config_map.metadata.name == name and isinstance(config_map, tekton_config.ConfigMap)
    ]
    namespaces = (_config_namespace(store), tekton_config.NAMESPACE, OTHER)

    def rank(config_map: tekton_config.ConfigMap) -> tuple[bool, int]:
        space = config_map.metadata.namespace
        from_file = ObjectRef("ConfigMap", name, space) in store.files
        return not from_file, namespaces.index(space) if space in namespaces else len(namespaces)

    return min(config_maps, key=rank) if config_maps else None


def remarks(store: Store, config: TektonConfig) -> Iterator[Assumption]:
    """Yield the assumptions about the configuration, in one sentence where it could not be read at all."""
    yield from config.assumed
    missing = [name for name in tekton_config.CONFIG_NAMES if config_map(store, name) is None]
    if not missing:
        return
    states = {store.covered(_build_read_request(tekton_config.NAMESPACE, name)).state for name in missing}
    if not states & {"read", "absent"}:
        reason = "may not be read" if "denied" in states else "was not read"
        names = "" if len(missing) == len(tekton_config.CONFIG_NAMES) else f" ({' and '.join(missing)})"
        yield Assumption("", _UNKNOWN, f"Tekton's configuration{names} {reason}: assumed as shipped ({_FLAG})")
    elif tekton_config.INFO in missing:
        namespace_text = " and ".join(dict.fromkeys((tekton_config.NAMESPACE, _config_namespace(store))))
        what = (
            "no configuration of Tekton's"
            if len(missing) == len(tekton_config.CONFIG_NAMES)
            else f"no ConfigMap {' or '.join(missing)}"
        )
        webhook = store.covered(_WEBHOOK)
        unsure = f"; where else it may be could not be read ({webhook.message})" if webhook.state == "denied" else ""
        yield Assumption("", _UNKNOWN, f"{what} in {namespace_text}: assumed as shipped ({_FLAG}){unsure}")


def tekton_needs_of_namespace(store: Store) -> tuple[ReadRequest, ...]:
    """Return one read that shows whether Tekton is installed."""
    return tuple(configuration_needs(store))[:1]


def is_installed(store: Store) -> bool:
    """Return whether Tekton's configuration, or anything that it runs, was read."""
    return any(item.metadata.name in tekton_config.CONFIG_NAMES for item in store.all("ConfigMap")) or any(
        store.all("TaskRun")
    )


def merged_limits(limits: Sequence[Limits]) -> tuple[MergedLimit, ...]:
    """Return a row for each resource that a LimitRange gives steps something of; none without LimitRanges."""
    results = virtuals(limits)
    first = results[0].items[0] if results and results[0].items else None
    if first is None:
        return ()
    return tuple(_rows(first.default_request, first.minimum, len(results) - 1))


def _rows(defaults: Mapping[str, Sourced], minimums: Mapping[str, Sourced], others: int) -> Iterator[MergedLimit]:
    for resource in dict.fromkeys((*defaults, *minimums)):
        default, minimum = defaults.get(resource), minimums.get(resource)
        stated = default is not None and default[0].nano > 0
        bounded = minimum is not None and minimum[0].nano > 0
        if stated or bounded:
            yield MergedLimit(
                resource,
                str(default[0]) if default is not None and stated else None,
                str(minimum[0]) if minimum is not None and bounded else None,
                default[1] if default is not None and stated and default[1].kind else None,
                minimum[1] if minimum is not None and bounded and minimum[1].kind else None,
                others,
            )
