"""The interface by which a system explains its own kinds in ``kubectl kres explain``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.run_loop import AnswerBatch, Choose, ObjectAnswer, Page, Query, RunSummary
from kubectl_kres.cli.system import systems
from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import Kind
from kubectl_kres.reports.common.explanation import Subject, Verdict
from kubectl_kres.reports.common.system import answers_about
from kubectl_kres.store.store import ReadRequest, Store


class Explainer:
    """One for each run. ``judges_files``: what files hold is explained as it would be once all of it is there."""

    judges_files = True

    def __init__(self, page: Page) -> None:
        self.page = page

    @classmethod
    def reads(cls, store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
        """The reads that the explanation of an object depends on."""
        raise NotImplementedError

    @classmethod
    def choose(cls, options: Options, words: Sequence[str]) -> Choose | None:
        """Return how all its objects are found where they are asked about together; None: as any others."""
        del options, words
        return None

    @classmethod
    def plan_by_value(cls, options: Options, words: Sequence[str]) -> Query | None:
        """Return what ``--by value`` asks about the objects that are named; None: it says nothing about them."""
        del options, words
        return None

    def reports(
        self, batch: AnswerBatch, subject: Subject, run_summary: RunSummary
    ) -> Iterator[tuple[ObjectAnswer, Verdict | None]]:
        """Yield the explanation of one object; with it the verdict of one that is shown by a line and counted by it.

        One without an explanation is missed. Raises UsageError for flags that ask about a pod.
        """
        raise NotImplementedError


def refuse_pod_flags(options: Options, about: object, *, also: Sequence[str] = ()) -> None:
    """Refuse flags that ask about a pod, where ``about`` is none. ``also``: other such options. Raises UsageError."""
    for flag in ("container", "question", *also):
        if getattr(options, flag):
            name = "for" if flag == "question" else flag
            raise UsageError(f"--{name} asks about a pod, not about {about}")


def explainer_of(kind: Kind) -> type[Explainer] | None:
    """Return who explains objects of a kind; None: what explains pods and policies does."""
    name = answers_about(kind).explained
    module_and_name = next((system.explainer for system in systems() if system.name == name), None)
    if module_and_name is None:
        return None
    result: type[Explainer] = getattr(import_module(module_and_name[0]), module_and_name[1])
    return result
