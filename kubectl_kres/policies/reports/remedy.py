"""What lets in what other admission plugins refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kubectl_kres.reports.remedies.context import Remedy, RemedyContext

_CONTAINERS = re.compile(r'containers? ("[^"]+"(?:, "[^"]+")*)')


def _security(case: RemedyContext) -> Iterator[str]:
    """Yield one line for each control: the field and what it has to be, in which container."""
    for finding in case.findings:
        which = _CONTAINERS.search(finding.observed)
        names = which[1].replace('"', "") if which else ""
        where = f"in container{'s' * (',' in names)} {names} " if which else ""
        if finding.expected:
            yield f"{where}set {finding.path}: {finding.expected}"
        elif finding.path:
            yield f"{where}take out or change {finding.path}: {finding.observed}"
        else:
            yield f"change what Pod Security names: {finding.observed}"


def _denial_remedies(case: RemedyContext) -> Iterator[str]:
    source, expression = case.finding.source, case.finding.observed
    text = f"make the pod meet what {source or 'the policy'} asks for"
    yield f"{text}: {expression}" if expression else text


def _failure_remedies(case: RemedyContext) -> Iterator[str]:
    yield f"correct {case.finding.source or 'the policy'}, which cannot be computed for this pod, or its binding"


def _no_answer(case: RemedyContext) -> Iterator[str]:
    which = case.finding.source or "the policy"
    yield f"in {which}, add an empty list, then each item at a path that ends in /-; servers from 1.37 on take the list"


def _account(case: RemedyContext) -> Iterator[str]:
    source = case.finding.source
    if source is None:
        yield "name a service account in spec.serviceAccountName"
        return
    yield f"create it (kubectl create serviceaccount {source.name} -n {source.namespace}), or name one that exists"


def _mirror(_case: RemedyContext) -> Iterator[str]:
    yield "take the annotation kubernetes.io/config.mirror out: only a kubelet makes mirror pods"


def _secret(_case: RemedyContext) -> Iterator[str]:
    yield "list the secret in the service account (kubectl edit), or take it out of the pod"


POLICING_REMEDIES: Mapping[str, Remedy] = {
    "pod-security/violated": _security,
    "policy/denied": _denial_remedies,
    "policy/error": _failure_remedies,
    "policy/mutation-failed": _failure_remedies,
    "policy/no-answer": _no_answer,
    "service-account/missing": _account,
    "service-account/mirror": _mirror,
    "service-account/secret": _secret,
}
