"""The part of the catalogue that is about what else admits: namespaces, accounts, Pod Security, policies, webhooks."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.provenance.rule import Rule

_LIFECYCLE = "apiserver/pkg/admission/plugin/namespace/lifecycle"
_ACCOUNT = "plugin/pkg/admission/serviceaccount/admission.go"
_SECURITY = "pod-security-admission/policy"
_VALIDATING = "apiserver/pkg/admission/plugin/policy/validating"
_MUTATING = "apiserver/pkg/admission/plugin/policy/mutating"

POLICY_RULES: Mapping[str, Rule] = {
    "namespace/mismatch": Rule(
        "An object is created in the namespace that it names.", "apiserver/pkg/registry/rest/meta.go"
    ),
    "namespace/terminating": Rule("Nothing is created in a namespace that is being deleted.", _LIFECYCLE),
    "namespace/immortal": Rule("default, kube-system and kube-public are never deleted.", _LIFECYCLE),
    "service-account/missing": Rule("The service account of a pod must exist.", _ACCOUNT),
    "service-account/mirror": Rule("A mirror pod names neither a service account nor secrets.", _ACCOUNT),
    "service-account/secret": Rule(
        "An account with the annotation enforce-mountable-secrets lets pods use only the secrets that it lists.",
        _ACCOUNT,
    ),
    "pod-security/violated": Rule(
        "A pod keeps to the Pod Security level that its namespace enforces.", f"{_SECURITY}/registry.go"
    ),
    "pod-security/label": Rule(
        "The labels of Pod Security name a level, and a version v1.x or latest.",
        "pod-security-admission/api/helpers.go",
    ),
    "pod-security/exemptions": Rule(
        "Users, namespaces and runtime classes that the server's configuration exempts from Pod Security are not seen.",
        "pod-security-admission/admission/admission.go",
    ),
    "pod/security-field": Rule(
        "Security fields hold values that fit each other.", "pkg/apis/core/validation/validation.go"
    ),
    "seen/added-on-create": Rule(
        "Live pods of the template have what neither it nor a known rule explains: the next one is expected to, too.",
        "docs/admission-plugins.md",
    ),
    "policy/denied": Rule("A validation of a ValidatingAdmissionPolicy does not hold.", f"{_VALIDATING}/validator.go"),
    "policy/error": Rule(
        "An expression of a ValidatingAdmissionPolicy that fails on errors cannot be evaluated.",
        f"{_VALIDATING}/validator.go",
    ),
    "policy/mutated": Rule("A MutatingAdmissionPolicy set the value.", f"{_MUTATING}/dispatcher.go"),
    "policy/mutation-failed": Rule(
        "A mutation of a MutatingAdmissionPolicy that fails on errors cannot be carried out.",
        f"{_MUTATING}/dispatcher.go",
    ),
    "policy/invalid": Rule(
        "A policy compiles, names what exists and says what it does.",
        "pkg/apis/admissionregistration/validation/validation.go",
    ),
}
