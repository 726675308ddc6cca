"""``kubectl kres explain policies -n x``: which admission policies decide about pods there, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.explainer import Explainer, refuse_pod_flags
from kubectl_kres.cli.run_loop import AnswerBatch, Choose, ObjectAnswer, RunSummary
from kubectl_kres.cli.select.workloads import Selection, complete
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.errors import NotFound, UsageError
from kubectl_kres.model.kinds import Kind, find
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.policies.reports.effects import effects_needs, policy_effects
from kubectl_kres.policies.text import effect_lines
from kubectl_kres.reports.common.explanation import Subject, Verdict
from kubectl_kres.store.store import ReadRequest, Store

#: Stands for all kinds of policies.
ALL = "policies"


class PoliciesExplainer(Explainer):
    """Policies by namespace: all that match pods there, of one kind, or one by its name."""

    @classmethod
    def reads(cls, store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
        return effects_needs(store, subject.ref.namespace)

    @classmethod
    def choose(cls, options: Options, words: Sequence[str]) -> Choose | None:
        """Each policy is asked about in each namespace; of files as any other object."""
        if options.filenames or not words:
            return None
        return partial(_select_policies, words)

    def reports(
        self, batch: AnswerBatch, subject: Subject, run_summary: RunSummary
    ) -> Iterator[tuple[ObjectAnswer, Verdict | None]]:
        options, ref = self.page.options, subject.ref
        refuse_pod_flags(options, "policies")
        kind = "" if ref.kind == ALL else ref.kind
        space = ref.namespace or (*options.namespaces, "default")[0]
        result = policy_effects(batch.store, space, batch.options, kind, ref.name)
        if ref.name and batch.store.get(ref.kind, ref.name) is None and result.complete:
            run_summary.add_error(
                NotFound(f'{subject.kind.qualified_name} "{ref.name}" not found', code=404, reason="NotFound")
            )
            return
        yield (
            ObjectAnswer(subject, result, partial(effect_lines, result, color=self.page.color, width=self.page.width)),
            None,
        )
        refused = any(other.refused for effect in result.policies for other in effect.failing)
        run_summary.add_answer(result.unread, complete=result.complete, negative=options.exit_code and refused)


def _select_policies(
    named: Sequence[str], source: ObjectSource, inputs: Input, options: Options, words: Sequence[str], program: str
) -> Iterator[Selection]:
    """Raises UsageError for other types beside policies."""
    del inputs, options, words, program
    head, _, first = named[0].partition("/")
    kind = find(head)
    names = [*([first] if first else []), *(name.partition("/")[2] or name for name in named[1:])] or [""]
    subjects = [
        Subject(ObjectRef(ALL if head.lower() == ALL and not name else _kind(kind), name, space), _check_kind(kind))
        for space in source.namespaces or _list_namespaces(source)
        for name in names
    ]
    complete(source, subjects, lambda store, subject: effects_needs(store, subject.ref.namespace))
    yield Selection(tuple(subjects), listed=len(subjects) > 1)


def _kind(kind: Kind | None) -> str:
    return _check_kind(kind).kind


def _check_kind(kind: Kind | None) -> Kind:
    if kind is None:
        raise UsageError("there is no such type of policies")
    return kind


def _list_namespaces(source: ObjectSource) -> tuple[str, ...]:
    source.fill([ReadRequest("Namespace")])
    return tuple(namespace.metadata.name for namespace in source.store.all("Namespace"))
