"""The catalogue of Tekton's rules, by their codes."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.provenance.catalogued_rule import CataloguedRule, CodeAdvice

_VALIDATION = "pkg/apis/core/validation/validation.go"
_QUOTA = "apiserver/pkg/admission/plugin/resourcequota/controller.go"
_API = "tekton pkg/apis/pipeline/v1"
_RUN = "tekton pkg/reconciler/taskrun/taskrun.go"
_LEVEL = "tekton pkg/internal/computeresources/tasklevel/tasklevel.go"
_LIMITS = "tekton pkg/internal/computeresources/transformer.go"
_DEFAULTS = "tekton pkg/internal/defaultresourcerequirements/transformer.go"
_CONFIG = "tekton pkg/apis/config"
#: Where feature flags stand, unless the Tekton Operator keeps them.
_FLAGS = "ConfigMap feature-flags"

RULES: Mapping[str, CataloguedRule] = {
    "tekton/step": CataloguedRule("The value stands at the step in the Task.", _API, refuses=False),
    "tekton/step-template": CataloguedRule(
        "The step template fills what a step lacks, name by name.", _API, refuses=False
    ),
    "tekton/step-spec": CataloguedRule(
        "An entry of stepSpecs (stepOverrides) replaces values of its step.", _API, refuses=False
    ),
    "tekton/sidecar": CataloguedRule("The value stands at the sidecar in the Task.", _API, refuses=False),
    "tekton/sidecar-spec": CataloguedRule(
        "An entry of sidecarSpecs (sidecarOverrides) replaces values of its sidecar.", _API, refuses=False
    ),
    "tekton/task-level-limit": CataloguedRule(
        "The limits of the whole Task are copied in full to each step.", _LEVEL, refuses=False
    ),
    "tekton/task-level-request": CataloguedRule(
        "The requests of the whole Task are divided by the number of steps; what is left over is lost.",
        _LEVEL,
        refuses=False,
    ),
    "tekton/task-level-request-from-limit": CataloguedRule(
        "With only limits for the whole Task, a step without requests gets a share of the limits.",
        _LEVEL,
        refuses=False,
    ),
    "tekton/task-level-dropped": CataloguedRule(
        "Values for the whole Task replace those of the steps as a whole: names they lack are gone.",
        _LEVEL,
        refuses=False,
    ),
    "tekton/config-default-named": CataloguedRule(
        "config-defaults has an entry with the name of this empty container.", _DEFAULTS, refuses=False
    ),
    "tekton/config-default-prefix": CataloguedRule(
        "config-defaults has an entry for the beginning of this empty container's name.", _DEFAULTS, refuses=False
    ),
    "tekton/config-default": CataloguedRule(
        "config-defaults has an entry for every empty container.", _DEFAULTS, refuses=False
    ),
    "tekton/limitrange-share": CataloguedRule(
        "A step without a request gets defaultRequest divided by the number of steps, at least min.",
        _LIMITS,
        refuses=False,
    ),
    "tekton/shared-entry": CataloguedRule(
        "Containers with the same entry of config-defaults share its requests, and what a LimitRange adds.",
        _LIMITS,
        refuses=False,
    ),
    "tekton/built-in": CataloguedRule(
        "Tekton 1.13.0 gave the containers that it adds values of its own.",
        "tekton pkg/pod/pod.go at v1.13.0",
        refuses=False,
    ),
    "tekton/service-account": CataloguedRule(
        "The ServiceAccount of a run exists before its pod is made.", "tekton pkg/pod/creds_init.go"
    ),
    "tekton/decode": CataloguedRule("The webhook decodes strictly: bad quantities and unknown fields end it.", _API),
    "tekton/one-of": CataloguedRule("A run has either a reference or an embedded spec.", _API),
    "tekton/no-steps": CataloguedRule("A Task has steps.", _API, by_hand="give the Task a step"),
    "tekton/step-name": CataloguedRule(
        "Each step has a name of its own: letters a-z, digits and dashes.",
        _API,
        by_hand="give each step a name of its own, of small letters, digits and dashes",
    ),
    "tekton/step-ref": CataloguedRule(
        "A step that takes a StepAction says nothing that the StepAction says.",
        _API,
        by_hand="take what the StepAction says out of the step",
    ),
    "tekton/image": CataloguedRule(
        "A step or sidecar has an image; a step can have it from the step template.",
        _API,
        by_hand="give each step and sidecar an image",
    ),
    "tekton/script": CataloguedRule(
        "A step or sidecar has a script or a command.",
        _API,
        by_hand="keep either the script or the command; a step can have its command from the step template",
    ),
    "tekton/artifacts": CataloguedRule(
        "Artifacts need enable-artifacts to be true.",
        _API,
        by_hand="set enable-artifacts to true in {set_in}, or use results",
        set_in=_FLAGS,
    ),
    "tekton/pipeline-task-name": CataloguedRule(
        "Each task of a Pipeline has a name of its own: letters a-z, digits and dashes.",
        _API,
        by_hand="give each task a name of its own, of small letters, digits and dashes",
    ),
    "tekton/run-after": CataloguedRule(
        "A task waits for tasks of its Pipeline; those in finally for none.",
        _API,
        by_hand="name tasks of the Pipeline in runAfter, and none in finally",
    ),
    "tekton/cycle": CataloguedRule(
        "Tasks of a Pipeline do not wait for each other in a ring.",
        _API,
        by_hand="take one of these tasks out of what the other waits for",
    ),
    "tekton/timeout": CataloguedRule("No timeout is below zero, or above that of what it is a part of.", _API),
    "tekton/retries": CataloguedRule("Retries are not below zero.", _API, by_hand="set retries to 0 or more"),
    "tekton/run-status": CataloguedRule(
        "A run can be sent as pending or cancelled, and as nothing else.", _API, by_hand="take spec.status out"
    ),
    "tekton/breakpoint": CataloguedRule(
        "Breakpoints stop a run when a step fails, and before steps, each once.",
        _API,
        by_hand="set onFailure to enabled, and name each step once in beforeSteps",
    ),
    "tekton/reserved-sidecar": CataloguedRule(
        "The name of the results sidecar is taken.", _API, by_hand="give the sidecar another name"
    ),
    "tekton/retired-field": CataloguedRule("The inputs and outputs of old are no longer accepted.", _API),
    "tekton/api-fields": CataloguedRule(
        "A field needs enable-api-fields to be beta or alpha.",
        _API,
        by_hand="take the field out, or set enable-api-fields to beta in {set_in}",
        set_in=_FLAGS,
    ),
    "tekton/override-name": CataloguedRule(
        "Each override names its step or sidecar, each once.", _API, by_hand="name each step or sidecar in one entry"
    ),
    "tekton/task-level-conflict": CataloguedRule(
        "Values for the whole Task and values for single steps exclude each other.",
        _API,
        by_hand="keep either computeResources of the whole Task or the values of single steps; an empty one counts, "
        "too",
    ),
    "tekton/request-over-limit": CataloguedRule(
        "A step's request may not exceed its limit, as the Task has them.",
        "tekton pkg/reconciler/taskrun/validate_taskrun.go",
    ),
    "tekton/given-twice": CataloguedRule(
        "A parameter or workspace is given, and declared, once.",
        _API,
        by_hand="take all but one of what has the same name out; capitals make no difference in a run",
    ),
    "tekton/undeclared": CataloguedRule(
        "Steps refer only to parameters, results and workspaces that are declared, or given by the run.",
        _API,
        by_hand="declare what is named, or correct its name where it is referred to",
    ),
    "tekton/variable-use": CataloguedRule(
        "A list stands alone in command and args, an object is taken by key, results of steps wait for their step.",
        _API,
        by_hand="take an entry of the list, or a key of the object; a whole list stands alone in command or args",
    ),
    "tekton/declaration": CataloguedRule(
        "A parameter has a name of letters, one of three types, a default of that type; an object names its keys.",
        _API,
        by_hand="correct name, type, default or properties of the parameter",
    ),
    "tekton/result": CataloguedRule(
        "A result has a name of letters and one of three types.",
        _API,
        by_hand="correct name, type, properties or value of the result",
    ),
    "tekton/volume": CataloguedRule(
        "Volumes have different names, also from those that Tekton adds.",
        _API,
        by_hand="give each volume a name of its own, without tekton-internal- in front",
    ),
    "tekton/unmountable": CataloguedRule(
        "A step mounts volumes that its pod has, each at a path of its own.",
        _VALIDATION,
        by_hand="name the volume in the Task, or correct the mount; mount each at a path of its own",
    ),
    "tekton/mount": CataloguedRule(
        "Nothing is mounted where Tekton's own files are.",
        _API,
        by_hand="mount a volume that is not Tekton's, at a path outside of /tekton",
    ),
    "tekton/when": CataloguedRule(
        "A condition has an operator, in or notin, and values.",
        _API,
        by_hand="give the condition input, operator (in, notin) and values",
    ),
    "tekton/action-script": CataloguedRule(
        "The script of a StepAction refers to no parameters.",
        _API,
        by_hand="take the parameter through an environment variable of the StepAction",
    ),
    "tekton/workspace-binding": CataloguedRule(
        "A workspace is bound to exactly one volume, which is named.",
        _API,
        by_hand="bind each workspace to exactly one volume, with its name",
    ),
    "tekton/name": CataloguedRule(
        "A Task in the namespace is named by at most 63 letters, digits, '-', '_', '.'.",
        _API,
        by_hand="correct the name of the Task; what a resolver fetches needs the field resolver",
    ),
    "tekton/on-error": CataloguedRule(
        "What a failure does is continue or stopAndFail; a task that continues has no retries.",
        _API,
        by_hand="set onError to continue or stopAndFail, and no retries beside continue",
    ),
    "tekton/resolution": CataloguedRule(
        "Tasks, StepActions and Pipelines are looked for when a run starts; one that is not there ends it.", _RUN
    ),
    "tekton/params": CataloguedRule("Each parameter of the Task has a value or a default.", _RUN),
    "tekton/workspaces": CataloguedRule(
        "A run binds the workspaces of its Task that are not optional, no others.", _RUN
    ),
    "tekton/one-claim": CataloguedRule(
        "With coschedule: workspaces, the workspaces of a TaskRun are backed by at most one claim.",
        _RUN,
        by_hand="back the workspaces by one claim (subPath parts it), or set coschedule to disabled, pipelineruns or "
        "isolate-pipelinerun in {set_in}",
        set_in=_FLAGS,
    ),
    "tekton/unknown-override": CataloguedRule(
        "Overrides name steps and sidecars that the Task has.",
        "tekton pkg/reconciler/taskrun/validate_taskrun.go",
        by_hand="name steps and sidecars as the Task does, without step- or sidecar- in front",
    ),
    "tekton/unknown-pipeline-task": CataloguedRule(
        "Entries of taskRunSpecs name tasks of the Pipeline.",
        "tekton pkg/reconciler/pipelinerun/pipelinerun.go",
        by_hand="name a task of the Pipeline in taskRunSpecs",
    ),
    "tekton/object-refused": CataloguedRule(
        "The API server refuses the object itself, a quota that counts it for one.", _QUOTA
    ),
    "tekton/exceeded-quota": CataloguedRule(
        "A pod that a quota has no room for is tried again every minute.",
        _RUN,
        by_hand="Tekton tries the pod again every minute: what the quota lacks is said with its refusal",
    ),
    "tekton/quota-conflict": CataloguedRule(
        "A quota that changes at the same moment: tried again after a second.",
        _RUN,
        by_hand="Tekton tries again after a second: nothing is to be changed",
    ),
    "tekton/pod-exists": CataloguedRule(
        "The pod is there already.", _RUN, by_hand="the pod is there already: nothing is to be changed"
    ),
    "tekton/pod-security": CataloguedRule(
        "Pod Security or an SCC refuses the pod: the run fails.",
        _RUN,
        by_hand="give each container the security context that the message asks for",
    ),
    "tekton/pod-security-unknown": CataloguedRule(
        "Security contexts are not checked against Pod Security.", _RUN, refuses=False
    ),
    "tekton/pod-creation-failed": CataloguedRule(
        "Any other refusal of the pod fails the run.",
        _RUN,
        by_hand="what refused the pod is said with its refusal; then start a new run",
    ),
    "tekton/config-unknown": CataloguedRule(
        "Configuration that may not be read is assumed to be as shipped.", _CONFIG, refuses=False
    ),
    "tekton/config-unreadable": CataloguedRule("Configuration that is not valid is not used.", _CONFIG, refuses=False),
    "tekton/older": CataloguedRule(
        "Rules are those of Tekton 1.15; what an older one does otherwise is named.", _CONFIG, refuses=False
    ),
    "tekton/too-old": CataloguedRule("The rules are those of Tekton 0.40 and later.", _CONFIG, refuses=False),
    "tekton/newer": CataloguedRule(
        "The version is newer than the last one whose changes are known.", _CONFIG, refuses=False
    ),
    "tekton/claim-unknown": CataloguedRule("What a workspace claims is not known.", _RUN, refuses=False),
    "tekton/orders-not-all": CataloguedRule(
        "So many LimitRanges that not every order was tried.", _LIMITS, refuses=False
    ),
    "tekton/step-action-unknown": CataloguedRule(
        "A StepAction that is not known may add init containers.", _API, refuses=False
    ),
}

#: What to do about its refusals where the edit depends on the object, by the beginning of their codes.
ADVICE: Mapping[str, CodeAdvice] = {
    "tekton/": CodeAdvice("correct the field that the message names, then start a new run", "taskrun-waits")
}
