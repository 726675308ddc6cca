"""Tekton's configuration: its ConfigMaps, the flags that a run was made with, its version.

It also merges step templates into steps, as far as texts go; resources are merged in ``resources``.

What changed in which version of Tekton: one table, from which rules and remarks follow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from kubectl_kres.errors import KresError
from kubectl_kres.model.objects import Metadata, decode_object
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.model.tekton_config import DEFAULTS, FLAGS, INFO, NAMESPACE, ConfigMap, ConfigMapData
from kubectl_kres.provenance.journal import Assumption, Source
from kubectl_kres.tekton.model import DeclaredResult, PodTemplate, Provenance, Step, Variable, Volume, VolumeMount
from kubectl_kres.tekton.rules.base.amounts import read

TektonVersion = tuple[int, int, int]

#: The rules of today hold from here on.
OLDEST: TektonVersion = (0, 40, 0)
#: The version whose recorded answers the rules are checked with.
CHECKED: TektonVersion = (1, 15, 0)
#: The newest minor version whose changes are in the table.
NEWEST: TektonVersion = (1, 16, 0)

#: Changes that the rules here follow, each by the version of the controller.
Rule = Literal[
    "api-fields-default", "security-context-flag", "coschedule-flag", "task-level-beta", "config-defaults",
    "step-specs-beta", "native-sidecars", "defaults-before-limits", "whole-bytes", "affinity-flag", "claims-retried",
    "runs-held", "built-in-values", "security-context-default",
]  # fmt: skip


class TektonChange(Struct, frozen=True):
    """``since``: the first version with it; ``until``: the first one without it again; None: it is still there.

    ``rule``: its name, by which the rules follow it. ``text``: what it is, and ``before`` what older versions do, each
    for a sentence. ``lines``: the patches that brought it to older lines, which are kept for long.
    """

    since: TektonVersion
    rule: Rule
    text: str
    before: str = ""
    until: TektonVersion | None = None
    lines: tuple[TektonVersion, ...] = ()

    def holds_for(self, version: TektonVersion) -> bool:
        """Return whether a version has the change."""
        if version >= self.since:
            return self.until is None or version < self.until
        return any(version[:2] == patch[:2] and version >= patch for patch in self.lines)


#: In the order of versions. Source: the history of tektoncd/pipeline, first tag that contains each change.
CHANGES: tuple[TektonChange, ...] = (
    # apis/config/feature_flags.go DefaultEnableAPIFields.
    TektonChange((0, 49, 0), "api-fields-default", "enable-api-fields is beta unless set", "it is stable unless set"),
    # The same, commit 0927ff1de.
    TektonChange((0, 49, 0), "security-context-flag", "flag set-security-context", "there is no such flag"),
    # internal/affinityassistant/affinityassistant_types.go.
    TektonChange((0, 50, 0), "coschedule-flag", "flag coschedule", "disable-affinity-assistant alone decides"),
    # apis/pipeline/v1/taskrun_validation.go.
    TektonChange(
        (0, 53, 0), "task-level-beta", "computeResources of a run are beta", "they need enable-api-fields alpha"
    ),
    # apis/config/default.go.
    TektonChange((0, 56, 0), "config-defaults", "key default-container-resource-requirements", "there is no such key"),
    # apis/pipeline/v1/taskrun_validation.go.
    TektonChange(
        (0, 62, 0), "step-specs-beta", "stepSpecs and sidecarSpecs are beta", "they need enable-api-fields alpha"
    ),
    # pkg/pod/pod.go.
    TektonChange((0, 62, 0), "native-sidecars", "flag enable-kubernetes-sidecar", "sidecars are never init containers"),
    # pkg/pod/pod.go updateResourceRequirements, which is a transformer from then on.
    TektonChange(
        (0, 63, 0),
        "defaults-before-limits",
        "config-defaults come before the LimitRange",
        "they come after it",
        lines=((0, 62, 3),),
    ),
    # internal/computeresources/tasklevel/tasklevel.go.
    TektonChange(
        (0, 68, 0), "whole-bytes", "memory of a whole Task is divided into bytes", "into thousandths of a byte"
    ),
    # config/feature_flags.go: disable-affinity-assistant is not read any more.
    TektonChange(
        (1, 0, 0), "affinity-flag", "disable-affinity-assistant is gone", "without it coschedule decides nothing"
    ),
    # reconciler/volumeclaim/pvchandler.go isRetryableError.
    TektonChange(
        (1, 4, 0),
        "claims-retried",
        "a claim that a quota refuses is tried again",
        "it ends the run",
        lines=((1, 3, 2),),
    ),
    # apis/pipeline/v1/taskrun_types.go TaskRunSpecStatusPending.
    TektonChange((1, 11, 0), "runs-held", "a TaskRun can be held back", "the webhook refuses that"),
    # pkg/pod/pod.go: requests and limits of the containers that Tekton adds.
    TektonChange(
        (1, 13, 0), "built-in-values", "added containers have requests and limits of their own", until=(1, 13, 1)
    ),
    # apis/config/feature_flags.go DefaultSetSecurityContext.
    TektonChange((1, 16, 0), "security-context-default", "set-security-context is on unless set", "it is off"),
)

_BY_RULE = {change.rule: change for change in CHANGES}


def has_change(rule: Rule, version: TektonVersion | None) -> bool:
    """Return whether the version has the change. One that is not known is taken as that the rules are checked with."""
    return _BY_RULE[rule].holds_for(version or CHECKED)


def version_of(text: str) -> TektonVersion | None:
    """Return the numbers of ``v1.15.0``; None for what is no version (``devel``)."""
    match = re.match(r"v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?", text)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3] or 0))


def version_remarks(version: TektonVersion | None) -> Iterator[Assumption]:
    """Yield that a version is older or newer than those whose rules are known, with what may differ."""
    if version is None:
        return
    name = ".".join(map(str, version))
    if version < OLDEST:
        yield Assumption(
            "",
            "tekton/too-old",
            f"Tekton {name} is older than 0.40: the rules of 0.40 are used; what older ones do otherwise is not known",
        )
    elif version[:2] > NEWEST[:2]:
        newest = ".".join(map(str, NEWEST[:2]))
        text = (
            f"Tekton {name} is newer than {newest}, the last one whose changes are known here: the rules of {newest} "
            "are used; flags, defaults and reasons may differ"
        )
        yield Assumption("", "tekton/newer", text)


KEY = "default-container-resource-requirements"

#: Labels and owners of what the Tekton Operator keeps begin with this.
_OPERATOR = "operator.tekton.dev/"

Entries = Mapping[str, ResourceRequirements]


class Flags(Struct, frozen=True):
    """The feature flags that pods depend on, with the defaults that are shipped.

    No flags, but what the version makes of fields: ``held_task_runs``: whether it knows TaskRuns that are held back;
    ``alpha_steps``, ``alpha_tasks``: whether resources for single steps, and for whole Tasks, are alpha features.
    """

    api_fields: str = "beta"
    results_from: str = "termination-message"
    kubernetes_sidecar: bool = False
    coschedule: str = "workspaces"
    security_context: bool = False
    artifacts: bool = False
    param_enum: bool = False
    concise_resolver: bool = False
    cel: bool = False
    creds_init: bool = True
    keep_pod: bool = False
    injected_sidecars: bool = True
    await_sidecars: bool = True
    held_task_runs: bool = True
    alpha_steps: bool = False
    alpha_tasks: bool = False

    @property
    def takes_task_level(self) -> bool:
        """Return whether a run may state resources for a whole Task."""
        return self.api_fields in ({"alpha"} if self.alpha_tasks else {"alpha", "beta"})


class TektonConfig(Struct, frozen=True):
    """A controller's configuration.

    entries: what config-defaults gives to containers, by entry name, in the order of the text. source: of the entries.
    pod_template: what runs without one have; assistant_template: the same of
    affinity assistants. binds_workspaces: workspaces that a TaskRun leaves open get a default.
    version: None if unknown. by_operator: the Tekton Operator keeps the ConfigMaps. default_unknown: nothing says
    whether set-security-context is on, and the version that decides is not known. assumed: what could not be known, one
    remark each. service_account: of runs that name none; empty: default.
    """

    entries: Entries = {}
    flags: Flags = Flags()
    timeout_minutes: int = 60
    pod_template: PodTemplate = PodTemplate()
    version: TektonVersion | None = None
    source: Source = Source("ConfigMap", DEFAULTS, NAMESPACE)
    assumed: tuple[Assumption, ...] = ()
    binds_workspaces: bool = False
    assistant_template: PodTemplate = PodTemplate()
    by_operator: bool = False
    default_unknown: bool = False
    service_account: str = ""


def parse_config(
    defaults: ConfigMap | None,
    flags: ConfigMap | None,
    info: ConfigMap | None,
    read_yaml: Callable[[str], Any],
    *,
    is_known: bool = True,
) -> TektonConfig:
    """Return the configuration that the ConfigMaps say; what is shipped where one is None.

    ``is_known`` False: one that is None may exist but could not be read, which the answer then says. ``read_yaml`` is
    only asked for text that is no JSON (``msgspec.yaml.decode`` will do); KresError, MsgspecError and ValueError of it
    mean that the text cannot be read.
    """
    missing = [name for name, config_map in ((DEFAULTS, defaults), (FLAGS, flags), (INFO, info)) if config_map is None]
    remarks = [] if is_known else [_unread_assumption(name) for name in missing]
    data = defaults.data if defaults is not None else ConfigMapData()
    entries, fault = entries_of(data.default_container_resource_requirements, read_yaml)
    template, other = template_of(data.default_pod_template, read_yaml)
    assistant, third = template_of(data.default_affinity_assistant_pod_template, read_yaml)
    for key, text in (
        (KEY, fault),
        ("default-pod-template", other),
        ("default-affinity-assistant-pod-template", third),
    ):
        if text:
            remark = f"{key} of {DEFAULTS} cannot be read ({text}): assumed empty"
            remarks.append(Assumption("", "tekton/config-unreadable", remark))
    version = None if info is None else version_of(info.data.version)
    if entries and not has_change("config-defaults", version):
        remarks.append(Assumption("", "tekton/older", _unread_key(version)))
        entries = {}
    remarks += version_remarks(version)
    namespace = next(
        (config_map.metadata.namespace for config_map in (defaults, flags, info) if config_map is not None), NAMESPACE
    )
    source = Source("ConfigMap", DEFAULTS, namespace or NAMESPACE)
    minutes = _minutes(data.default_timeout_minutes)
    binds = bool(data.default_task_run_workspace_binding)
    operator = any(kept_by_operator(config_map.metadata) for config_map in (defaults, flags) if config_map is not None)
    stated = flags is not None and bool(flags.data.set_security_context)
    return TektonConfig(
        entries,
        _flags(flags, version),
        minutes,
        template,
        version,
        source,
        tuple(remarks),
        binds,
        assistant,
        operator,
        version is None and not stated,
        data.default_service_account,
    )


def _unread_key(version: TektonVersion | None) -> str:
    since = ".".join(map(str, _BY_RULE["config-defaults"].since[:2]))
    return f"Tekton {'.'.join(map(str, version or ()))} does not read {KEY} of {DEFAULTS}, which came with {since}"


def kept_by_operator(metadata: Metadata) -> bool:
    """Return whether the Tekton Operator keeps the object and puts back what others write.

    Source: tektoncd/operator pkg/reconciler/kubernetes/tektoninstallerset.
    """
    owners = metadata.owner_references or ()
    return any(
        owner.api_version.startswith(_OPERATOR) or owner.kind == "TektonInstallerSet" for owner in owners
    ) or any(name.startswith(_OPERATOR) for name in metadata.labels or {})


def entries_of(text: str, read_yaml: Callable[[str], Any]) -> tuple[Entries, str]:
    """Return the entries that the text holds, and why it cannot be read (empty: it can).

    Source: config/default.go NewDefaultsFromMap.
    """
    if not text.strip():
        return {}, ""
    try:
        raw = _parse_value(text, read_yaml)
        entries = {
            str(name): decode_object(_lowercase_fields(item or {}), ResourceRequirements)
            for name, item in (raw or {}).items()
        }
        for entry in entries.values():
            read(entry.requests)
            read(entry.limits)
    except (KresError, msgspec.MsgspecError, AttributeError, TypeError, ValueError) as error:
        return {}, str(error)
    return entries, ""


def template_of(text: str, read_yaml: Callable[[str], Any]) -> tuple[PodTemplate, str]:
    """Return the pod template that runs have by default, and why it cannot be read (empty: it can)."""
    if not text.strip():
        return PodTemplate(), ""
    try:
        return decode_object(_parse_value(text, read_yaml) or {}, PodTemplate), ""
    except (KresError, msgspec.MsgspecError, AttributeError, TypeError, ValueError) as error:
        return PodTemplate(), str(error)


def merge_pod_templates(over: PodTemplate | None, under: PodTemplate | None) -> PodTemplate | None:
    """Return two templates in one, field by field. Source: pkg/apis/pipeline/pod/template.go
    MergePodTemplateWithDefault.
    """
    if over is None or under is None:
        return over if under is None else under
    return PodTemplate(
        under.runtime_class_name if over.runtime_class_name is None else over.runtime_class_name,
        under.priority_class_name if over.priority_class_name is None else over.priority_class_name,
        over.affinity or under.affinity,
        over.security_context or under.security_context,
        _by_name(over.volumes or (), under.volumes or ()) or None,
        under.node_selector if over.node_selector is None else over.node_selector,
        over.host_network or under.host_network,
        under.host_users if over.host_users is None else over.host_users,
    )


def _by_name(over: Sequence[Volume], under: Sequence[Volume]) -> tuple[Volume, ...]:
    names = {named.name for named in over}
    return (*(named for named in under if named.name not in names), *over)


def flags_of(provenance: Provenance | None, otherwise: Flags) -> Flags:
    """Return the flags that a run says it was made with; those it does not name are as ``otherwise``.

    Only flags that differ from Go's zero are written, so that a missing bool is false where any flag is named.
    """
    feature_flags = provenance.feature_flags if provenance is not None else None
    if not feature_flags:
        return otherwise
    by_name = {str(name).lower(): value for name, value in feature_flags.items()}
    return Flags(
        api_fields=str(by_name.get("enableapifields") or otherwise.api_fields),
        results_from=str(by_name.get("resultextractionmethod") or otherwise.results_from),
        kubernetes_sidecar=bool(by_name.get("enablekubernetessidecar", False)),
        coschedule=str(by_name.get("coschedule") or otherwise.coschedule),
        security_context=bool(by_name.get("setsecuritycontext", False)),
        artifacts=bool(by_name.get("enableartifacts", False)),
        param_enum=bool(by_name.get("enableparamenum", False)),
        concise_resolver=bool(by_name.get("enableconciseresolversyntax", False)),
        cel=bool(by_name.get("enablecelinwhenexpression", False)),
        creds_init=not by_name.get("disablecredsinit", False),
        keep_pod=bool(by_name.get("enablekeeppodoncancel", False)),
        injected_sidecars=bool(by_name.get("runninginenvwithinjectedsidecars", False)),
        await_sidecars=bool(by_name.get("awaitsidecarreadiness", False)),
        held_task_runs=otherwise.held_task_runs,
        alpha_steps=otherwise.alpha_steps,
        alpha_tasks=otherwise.alpha_tasks,
    )


def _parse_value(text: str, read_yaml: Callable[[str], Any]) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return read_yaml(text)


def _lowercase_fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry with its fields in small letters, as Go reads them in any; lists of two spellings are one."""
    result: dict[str, Any] = {}
    for field, item in entry.items():
        name = str(field).lower()
        both = isinstance(item, Mapping) and isinstance(result.get(name), Mapping)
        result[name] = {**result[name], **item} if both else item
    return result


def _flags(config_map: ConfigMap | None, version: TektonVersion | None) -> Flags:
    """``version`` None: not known, so that a flag of old counts where it stands alone."""
    secured = has_change("security-context-default", version)
    shipped = Flags(
        api_fields="beta" if has_change("api-fields-default", version) else "stable",
        security_context=secured,
        held_task_runs=has_change("runs-held", version),
        alpha_steps=not has_change("step-specs-beta", version),
        alpha_tasks=not has_change("task-level-beta", version),
    )
    if config_map is None:
        return shipped
    data = config_map.data
    return msgspec.structs.replace(
        shipped,
        api_fields=data.enable_api_fields.lower() or shipped.api_fields,
        results_from=data.results_from.lower() or shipped.results_from,
        kubernetes_sidecar=_is_enabled(data.enable_kubernetes_sidecar) and has_change("native-sidecars", version),
        coschedule=_coschedule(data.coschedule.lower(), version, disabled=_is_enabled(data.disable_affinity_assistant)),
        security_context=(_is_enabled(data.set_security_context) and has_change("security-context-flag", version))
        if data.set_security_context
        else secured,
        artifacts=_is_enabled(data.enable_artifacts),
        param_enum=_is_enabled(data.enable_param_enum),
        concise_resolver=_is_enabled(data.enable_concise_resolver_syntax),
        cel=_is_enabled(data.enable_cel_in_whenexpression),
        creds_init=not _is_enabled(data.disable_creds_init),
        keep_pod=_is_enabled(data.keep_pod_on_cancel),
        injected_sidecars=_is_enabled(data.injected_sidecars or "true"),
        await_sidecars=_is_enabled(data.await_sidecar_readiness or "true"),
    )


def _coschedule(written: str, version: TektonVersion | None, *, disabled: bool) -> str:
    """Return what is kept on one node. ``disabled``: the flag of old says that nothing is.

    Source: v0.60.0 internal/affinityassistant/affinityassistant_types.go GetAffinityAssistantBehavior.
    """
    if version is None:
        return "disabled" if disabled and not written else written or Flags().coschedule
    if has_change("affinity-flag", version):
        return written or Flags().coschedule
    if not disabled:
        return Flags().coschedule
    by_run = written in {"pipelineruns", "isolate-pipelinerun"} and has_change("coschedule-flag", version)
    return written if by_run else "disabled"


def _is_enabled(text: str) -> bool:
    return text.lower() in {"true", "1", "t"}


def _minutes(text: str) -> int:
    return int(text) if re.fullmatch(r"\d{1,9}", text) else 60


def _unread_assumption(name: str) -> Assumption:
    return Assumption("", "tekton/config-unknown", f"ConfigMap {name} could not be read: assumed as shipped")


def merge_templates(steps: Sequence[Step] | None, template: Step | None, *, beta: bool = False) -> tuple[Step, ...]:
    """Return each step's own texts before the template's; one that takes a StepAction is as it was.

    Variables are merged by name, mounts by path. ``beta``: v1beta1 forgets the results of the steps.

    Source: v1/merge.go MergeStepsWithStepTemplate.
    """
    if template is None:
        return tuple(steps or ())
    return tuple(
        step if step.ref is not None else _merge_step(step, template, None if beta else step.results)
        for step in steps or ()
    )


def _merge_step(step: Step, template: Step, results: tuple[DeclaredResult, ...] | None) -> Step:
    return msgspec.structs.replace(
        step,
        results=results,
        image=step.image or template.image,
        working_dir=step.working_dir or template.working_dir,
        command=step.command or template.command,
        args=step.args or template.args,
        image_pull_policy=step.image_pull_policy or template.image_pull_policy,
        env=_variables(step.env or (), template.env or ()) or None,
        volume_mounts=_mounts(step.volume_mounts or (), template.volume_mounts or ()) or None,
    )


def _variables(own_variables: Sequence[Variable], under: Sequence[Variable]) -> tuple[Variable, ...]:
    names = {variable.name for variable in own_variables}
    return (*own_variables, *(variable for variable in under if variable.name not in names))


def _mounts(own_volumes: Sequence[VolumeMount], under: Sequence[VolumeMount]) -> tuple[VolumeMount, ...]:
    paths = {volume_mount.mount_path for volume_mount in own_volumes}
    return (*own_volumes, *(volume_mount for volume_mount in under if volume_mount.mount_path not in paths))
