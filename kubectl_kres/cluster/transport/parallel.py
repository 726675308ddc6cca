"""Runs reads side by side on threads that never keep the program from ending."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

T = TypeVar("T")
_Todo = SimpleQueue[tuple["Future[T]", Callable[[], T]]]


def start(job: Callable[[], T]) -> Future[T]:
    """Return the outcome of a job that runs from now on."""
    todo: _Todo[T] = SimpleQueue()
    future: Future[T] = Future()
    todo.put((future, job))
    _thread(todo)
    return future


def run(jobs: Sequence[Callable[[], T]], width: int) -> Iterator[T]:
    """Yield the results in the order of the jobs, ``width`` of which run at once.

    The first job that fails raises here, and those not yet begun are dropped. Executors are not used: at the end of the
    program they wait for their threads, so that Ctrl-C would hang on a silent server.
    """
    if len(jobs) == 1:
        yield jobs[0]()
        return
    todo: _Todo[T] = SimpleQueue()
    futures: list[Future[T]] = [Future() for _ in jobs]
    for pair in zip(futures, jobs, strict=True):
        todo.put(pair)
    for _ in range(min(width, len(jobs))):
        _thread(todo)
    try:
        for future in futures:
            yield future.result()
    finally:
        _empty(todo)


def _thread(todo: _Todo[T]) -> None:
    Thread(target=_run_jobs, args=(todo,), daemon=True).start()


def _run_jobs(todo: _Todo[T]) -> None:
    while True:
        try:
            future, job = todo.get_nowait()
        except Empty:
            return
        try:
            future.set_result(job())
        except BaseException as error:  # noqa: BLE001, it is raised where the result is asked for
            future.set_exception(error)


def _empty(todo: _Todo[T]) -> None:
    while True:
        try:
            todo.get_nowait()
        except Empty:
            return
