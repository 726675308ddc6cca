"""``kubectl kres explain``: why pods get the requests and limits that they get."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kubectl_kres.cli.answers import Choose, Turn, answer
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.options import (
    ALLOW_PARTIAL,
    CONTAINER,
    EXIT_CODE,
    INPUT,
    OUTPUT,
    QUESTION,
    RESIZE,
    SERVER,
    STEPS,
    WATCHING,
    Options,
)
from kubectl_kres.cli.output import DOCUMENTS, Items, colored, named, put, speaks_unicode, width
from kubectl_kres.cli.subjects import chosen, making_pods
from kubectl_kres.cli.tally import Tally
from kubectl_kres.cli.watching import repeated
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.model.kinds import Kind, find
from kubectl_kres.render import explain as render
from kubectl_kres.render import policy as render_policy
from kubectl_kres.render.verdict import verdict_word
from kubectl_kres.reports.explain import explain
from kubectl_kres.reports.explain_policy import explain_policy, explains, policy_needs
from kubectl_kres.reports.explanation import Explanation
from kubectl_kres.reports.needs import needs
from kubectl_kres.reports.outline import Outline, Outlines
from kubectl_kres.reports.policy import PolicyExplanation
from kubectl_kres.reports.question import narrowed
from kubectl_kres.reports.subject import Subject
from kubectl_kres.reports.verdict import is_negative
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Origin, Store

if TYPE_CHECKING:
    from kubectl_kres.reports.capsule.explain_pooled import Explaining

#: Kinds of Capsule that are explained.
POOLED = ("ResourcePool", "ResourcePoolClaim")
#: Kinds of Tekton that make TaskRuns.
PIPELINES = ("PipelineRun", "Pipeline")


@repeated
def run(options: Options, words: tuple[str, ...]) -> int:
    """One object in full; of several a line each, and how many are refused. With ``--resize`` another answer."""
    if options.output == "describe":
        from kubectl_kres.cli import describe  # noqa: PLC0415, only what is needed is loaded

        return describe.run(options, words)
    if options.resize:
        from kubectl_kres.cli import resize  # noqa: PLC0415, only what is needed is loaded

        return resize.run(options, words)
    with Items(options.output) as items:
        page = Page(options, items)
        choose = _pooled_list(options, words) or partial(chosen, wants=_wants, takes=_takes)
        return answer(options, words, page.show, page.end, choose=choose, needed=True)


def _pooled_list(options: Options, words: tuple[str, ...]) -> Choose | None:
    kind = find(words[0].partition("/")[0]) if words else None
    if kind is None or kind.kind not in POOLED:
        return None
    from kubectl_kres.cli import explain_pooled  # noqa: PLC0415, only what is needed is loaded

    return explain_pooled.listed(options, words)


def _takes(kind: Kind) -> bool:
    return making_pods(kind) or explains(kind) or kind.kind in POOLED + PIPELINES


def _wants(store: Store, subject: Subject) -> tuple[Need, ...]:
    if subject.kind.kind in POOLED:
        from kubectl_kres.reports.capsule.needs import pooled_needs  # noqa: PLC0415, only what is needed is loaded

        return pooled_needs(store, subject)
    if subject.kind.kind in PIPELINES:
        from kubectl_kres.reports.tekton.pipeline_needs import pipeline_needs  # noqa: PLC0415, only what is needed is loaded

        return pipeline_needs(store, subject)
    return policy_needs(store, subject) if explains(subject.kind) else needs(store, subject)


class Page:
    """Shows explanations as they are made, in the format asked for."""

    def __init__(self, options: Options, items: Items) -> None:
        self._options, self._items = options, items
        self._width = width(wide=options.output == "wide")
        self._color = colored(options.color)
        self._words: list[str] = []
        self._shown = self._lined = False
        self._left_out: tuple[str, ...] = ()
        self._column = render.NAMES
        self._explaining: tuple[Turn, Explaining] | None = None
        self._outlines: tuple[Store, Outlines] | None = None

    def show(self, turn: Turn, tally: Tally) -> None:
        """The explanations of some objects; one without an explanation is missed."""
        self._left_out += turn.found.left_out
        self._column = render.name_column((one.ref for one in turn.found.subjects), self._column)
        for subject in turn.found.subjects:
            if subject.kind.kind in POOLED:
                self._pooled(turn, subject, tally)
                continue
            if subject.kind.kind in PIPELINES:
                self._pipeline(turn, subject, tally)
                continue
            try:
                found = self._answer(turn, subject)
            except KresError as error:
                tally.missed(error)
                continue
            verdict = found.verdict
            refused = verdict is not None and is_negative(verdict)
            at_odds = isinstance(found, PolicyExplanation) and bool(found.contradictions)
            if verdict is not None:
                tally.meets("admitted", not refused, complete=found.complete)
            negative = self._options.exit_code and (refused or at_odds)
            tally.answered(found.unseen, complete=found.complete, negative=negative)
            if not turn.many and self._whole:
                tally.shows(found.unseen)

    @property
    def _whole(self) -> bool:
        """Whether one object is shown with all that there is to say."""
        options = self._options
        return options.output in {"text", "wide"} and not (options.container or options.question)

    def _pooled(self, turn: Turn, subject: Subject, tally: Tally) -> None:
        from kubectl_kres.cli import explain_pooled  # noqa: PLC0415, only what is needed is loaded

        if self._explaining is None or self._explaining[0] is not turn:
            self._explaining = turn, explain_pooled.explaining_of(turn.store)
        explain_pooled.show(self._options, self._items, self._explaining[1], subject, tally, many=turn.many)

    def _pipeline(self, turn: Turn, subject: Subject, tally: Tally) -> None:
        from kubectl_kres.cli import explain_pipeline  # noqa: PLC0415, only what is needed is loaded

        verdict = explain_pipeline.show(self._options, self._items, turn, subject, tally)
        if verdict is not None:
            self._words.append(verdict_word(verdict)[0])
            self._lined = True

    def _answer(self, turn: Turn, subject: Subject) -> Explanation | PolicyExplanation | Outline:
        if explains(subject.kind):
            policy = explain_policy(turn.store, subject, turn.ask)
            self._print_policy(subject, policy, many=turn.many)
            return policy
        if self._brief(many=turn.many):
            return self._line(turn, subject)
        found = explain(turn.store, subject, turn.ask)
        self._print(found, many=turn.many)
        return found

    def _brief(self, *, many: bool) -> bool:
        """Whether no more than a line is shown of an object."""
        options = self._options
        asked = options.steps or options.container or options.question
        return options.output == "name" or (many and not asked and options.output not in DOCUMENTS)

    def _line(self, turn: Turn, subject: Subject) -> Outline:
        if self._outlines is None or self._outlines[0] is not turn.store:
            self._outlines = turn.store, Outlines(turn.store, turn.ask)
        found = self._outlines[1].outline(subject)
        if self._options.output == "name":
            print(named(subject))
        else:
            self._words.append(verdict_word(found.verdict)[0])
            self._lined = True
            print(render.summary(found, color=self._color, column=self._column))
        return found

    def _print_policy(self, subject: Subject, found: PolicyExplanation, *, many: bool) -> None:
        for flag in ("container", "question", "steps"):
            if getattr(self._options, flag):
                name = "for" if flag == "question" else flag
                raise UsageError(f"--{name} asks about a pod, not about {subject.ref}")
        if self._items.take(subject, found):
            return
        if many:
            put([""] * self._shown)
            self._shown = False
            self._words.append(render_policy.word(found)[0])
            self._lined = True
            print(render_policy.summary(found, color=self._color, column=self._column))
        else:
            ascii_only = not speaks_unicode()
            put([""] * self._shown)
            self._shown = True
            put(render_policy.lines(found, ascii_only=ascii_only, color=self._color, width=self._width))

    def _print(self, found: Explanation, *, many: bool) -> None:
        options = self._options
        if options.output in DOCUMENTS:
            self._items.add(narrowed(found, options.container, options.question))
            return
        put([""] * self._shown)
        self._shown = not many
        self._words.append(verdict_word(found.verdict)[0])
        put(
            render.lines(
                found,
                steps=options.steps,
                container=options.container,
                question=options.question,
                color=self._color,
                width=self._width,
            )
        )
        put([""] * many)

    def end(self, origin: Origin, tally: Tally) -> None:
        """The counts, or the document."""
        if tally.document(self._items, "Explanation", origin):
            return
        if self._lined:
            print(render.counts(self._words))
        if self._left_out and self._whole:
            put([""] * self._shown)
            put(render.left_out_lines(self._left_out, color=self._color, width=self._width))


command = Command(
    "explain",
    run,
    text="""
        Explain why pods get the requests and limits that they get: whether they are admitted, what to change if they
        are not, and which rule of which object set each value.

        Workloads are explained by the next pod of their template. Several objects get a line each.

        Tekton's TaskRuns and Tasks are explained by the pod that Tekton makes of them, with what becomes of the run; a
        PipelineRun or Pipeline by its tasks, and by what they ask for at once. -c TASK shows one of them in full.

        Of a quota, a LimitRange or a namespace: what it allows, what it gives, what contradicts what. Of a
        PersistentVolumeClaim or a service: what it costs each quota. Of a pool or a claim of Capsule: how the pool was
        chosen, the queue with each comparison, the conditions, the managed quota, and what may be done to it.
        """,
    examples="""
        # Why does this pod have the requests and limits that it has?
        kubectl kres explain pod/web

        # Why do the pods of this deployment not come?
        kubectl kres explain deploy/web -n shop

        # What sets one value, step by step?
        kubectl kres explain pod/web --for app.limits.memory

        # The value alone, for a script
        kubectl kres explain pod/web --for app.limits.memory -o json

        # What would become of this manifest, with the policies of the cluster?
        kubectl kres explain -f pod.yaml

        # The same with nothing but the files, for a certain version
        kubectl kres explain -f manifests/ --offline --kube-version 1.31

        # Which deployments of all namespaces would be refused? For scripts
        kubectl kres explain deployments -A --exit-code -o json

        # May this running pod get more, and would it restart?
        kubectl kres explain pod/web --resize '{"spec": {"containers": [
            {"name": "app", "resources": {"limits": {"cpu": "2"}}}]}}'

        # Wait until the pods of this deployment may come, for a runbook
        kubectl kres explain deploy/web -w --until admitted --timeout 10m

        # Why does this TaskRun wait, and what do its steps get?
        kubectl kres explain taskrun/build-7f -n ci

        # What would this PipelineRun ask for at once, with Tekton configured as here?
        kubectl kres explain -f run.yaml --tekton-config config.yaml

        # What does a namespace give, what does it allow, what contradicts what?
        kubectl kres explain ns/shop

        # Why does this claim on a resource pool wait?
        kubectl kres explain claim/batch -n shop --steps

        # What kubectl describe shows of a LimitRange, for comparison
        kubectl kres explain limits/defaults -n shop -o describe

        # On the bundled example, without a cluster
        kubectl kres explain --demo deployments
        """,
    usage="(TYPE/NAME | TYPE [NAME...] | -f FILE)",
    flags=(*INPUT, CONTAINER, QUESTION, STEPS, RESIZE, OUTPUT, EXIT_CODE, ALLOW_PARTIAL, *WATCHING, *SERVER),
    formats=("text", "wide", "json", "yaml", "name", "describe"),
    completes=_takes,
)
