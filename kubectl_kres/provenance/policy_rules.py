"""The part of the catalogue that is about what else admits: namespaces, accounts, Pod Security, policies, webhooks."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.provenance.rule import CataloguedRule

_LIFECYCLE = "apiserver/pkg/admission/plugin/namespace/lifecycle"
_ACCOUNT = "plugin/pkg/admission/serviceaccount/admission.go"
_SECURITY = "pod-security-admission/policy"
_VALIDATING = "apiserver/pkg/admission/plugin/policy/validating"
_MUTATING = "apiserver/pkg/admission/plugin/policy/mutating"

POLICY_RULES: Mapping[str, CataloguedRule] = {
    "namespace/mismatch": CataloguedRule(
        "An object is created in the namespace that it names.", "apiserver/pkg/registry/rest/meta.go"
    ),
    "namespace/terminating": CataloguedRule("Nothing is created in a namespace that is being deleted.", _LIFECYCLE),
    "namespace/immortal": CataloguedRule("default, kube-system and kube-public are never deleted.", _LIFECYCLE),
    "service-account/missing": CataloguedRule("The service account of a pod must exist.", _ACCOUNT),
    "service-account/mirror": CataloguedRule("A mirror pod names neither a service account nor secrets.", _ACCOUNT),
    "service-account/secret": CataloguedRule(
        "An account with the annotation enforce-mountable-secrets lets pods use only the secrets that it lists.",
        _ACCOUNT,
    ),
    "pod-security/violated": CataloguedRule(
        "A pod keeps to the Pod Security level that its namespace enforces.", f"{_SECURITY}/registry.go"
    ),
    "pod-security/label": CataloguedRule(
        "The labels of Pod Security name a level, and a version v1.x or latest.",
        "pod-security-admission/api/helpers.go",
    ),
    "pod-security/exemptions": CataloguedRule(
        "Users, namespaces and runtime classes that the server's configuration exempts from Pod Security are not seen.",
        "pod-security-admission/admission/admission.go",
    ),
    "pod/security-field": CataloguedRule(
        "Security fields hold values that fit each other.", "pkg/apis/core/validation/validation.go"
    ),
    "seen/added-on-create": CataloguedRule(
        "Live pods of the template have what neither it nor a known rule explains: the next one is expected to, too.",
        "docs/admission-plugins.md",
    ),
    "policy/denied": CataloguedRule(
        "A validation of a ValidatingAdmissionPolicy does not hold.", f"{_VALIDATING}/validator.go"
    ),
    "policy/error": CataloguedRule(
        "An expression of a ValidatingAdmissionPolicy that fails on errors cannot be evaluated.",
        f"{_VALIDATING}/validator.go",
    ),
    "policy/mutated": CataloguedRule("A MutatingAdmissionPolicy set the value.", f"{_MUTATING}/dispatcher.go"),
    "policy/no-answer": CataloguedRule(
        "Before 1.37 the server drops the connection where a JSONPatch of a policy sets a list of Object values.",
        "apiserver/pkg/cel/mutation/dynamic/objects.go",
    ),
    "policy/mutation-failed": CataloguedRule(
        "A mutation of a MutatingAdmissionPolicy that fails on errors cannot be carried out.",
        f"{_MUTATING}/dispatcher.go",
    ),
    "policy/invalid": CataloguedRule(
        "A policy compiles, names what exists and says what it does.",
        "pkg/apis/admissionregistration/validation/validation.go",
    ),
}
