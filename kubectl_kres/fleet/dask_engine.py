"""Workers of a Dask cluster: each has one task at a time, and time of its own; what a worker leaves goes to another."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Sequence
from importlib import import_module, util
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from kubectl_kres.errors import Unreachable, UsageError
from kubectl_kres.fleet.status import ClusterStatus, encode
from kubectl_kres.fleet.task import FleetTask, status_of

SCHEME: Final = "dask://"
#: How often a task is given out while its workers end.
_TRIES: Final = 3
#: Seconds between two looks at which workers there are, and until the scheduler has to answer.
_LOOK, _SCHEDULER = 1.0, 20.0

#: Takes a task as a line and returns the status as a line; workers import it by name.
WorkerCall = Callable[[bytes], bytes]


class _Try(Struct):
    """A task that a worker has. ``overdue``: its time is over, and the worker is not free before it ends."""

    task: FleetTask
    asked: FleetTask
    worker: str
    deadline: float
    count: int
    overdue: bool = False


def dask_available() -> None:
    """Raises UsageError where distributed is not installed."""
    if util.find_spec("distributed") is None:
        raise UsageError("--engine dask:// needs distributed", hint="pip install 'kubectl-kres[dask]'")


def on_dask(tasks: Sequence[FleetTask], address: str, run_remote: WorkerCall) -> Generator[ClusterStatus]:
    """Yield the status of each task, as they come. ``address``: HOST:PORT of the scheduler.

    Workers need this version of kubectl-kres and the same folders. One of another version gets nothing more to do, and
    its task goes to another. Raises Unreachable if the scheduler does not answer.
    """
    distributed: Any = import_module("distributed")
    try:
        client = distributed.Client(f"tcp://{address}", timeout=_SCHEDULER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise Unreachable(f"the Dask scheduler {address} does not answer: {error}") from error
    with client:
        engine = _Engine(client, run_remote, tasks)
        try:
            yield from engine.run()
        finally:
            engine.close()


class _Engine:
    """Gives tasks to workers and takes in what comes of them."""

    def __init__(self, client: Any, run_remote: WorkerCall, tasks: Sequence[FleetTask]) -> None:
        self._client, self._run_remote = client, run_remote
        self._queued_tasks = deque((task, 0) for task in tasks)
        self._open = len(tasks)
        self._attempts: dict[Any, _Try] = {}
        self._done = SimpleQueue[Any]()
        #: Workers of another version.
        self._unfit: dict[str, ClusterStatus] = {}
        self._last_seen = monotonic()

    def run(self) -> Generator[ClusterStatus]:
        """Yield every task's status once."""
        while self._open:
            workers = self._workers()
            cluster_statuses = [*self._requeue_lost_tasks(workers), *self._time_out_tasks()]
            self._submit_tasks(workers)
            cluster_statuses += self._fail_unserved_tasks(workers)
            with contextlib.suppress(Empty):
                cluster_statuses += self._finish_task(self._done.get(timeout=_LOOK))
            self._open -= len(cluster_statuses)
            yield from cluster_statuses

    def close(self) -> None:
        """What still runs is not wanted any more."""
        with contextlib.suppress(Exception):
            self._client.cancel([*self._attempts], force=True)

    def _workers(self) -> frozenset[str]:
        """Return those that are there. Raises Unreachable if the scheduler does not say."""
        try:
            return frozenset(self._client.sync(self._client.scheduler.ncores, callback_timeout=_SCHEDULER))
        except (OSError, TimeoutError) as error:
            raise Unreachable(f"the Dask scheduler does not answer any more: {error}") from error

    def _submit_tasks(self, workers: frozenset[str]) -> None:
        busy = {item.worker for item in self._attempts.values()}
        for worker in sorted(workers - busy - self._unfit.keys()):
            if not self._queued_tasks:
                return
            task, count = self._queued_tasks.popleft()
            # The rows are written under a name of this try alone, and only the one that counts becomes the file.
            part = f"{task.part}.{count}" if task.part else ""
            asked = structs.replace(task, part=part, file=part)
            future = self._client.submit(
                self._run_remote, encode(asked), workers=[worker], allow_other_workers=False, retries=0, pure=False
            )
            deadline = monotonic() + task.seconds if task.seconds else float("inf")
            self._attempts[future] = _Try(task, asked, worker, deadline, count + 1)
            future.add_done_callback(self._done.put)

    def _requeue_lost_tasks(self, workers: frozenset[str]) -> list[ClusterStatus]:
        """Workers that are gone: what they had goes to others, as long as that may help."""
        cluster_statuses: list[ClusterStatus] = []
        for future, item in [*self._attempts.items()]:
            if item.worker not in workers:
                cluster_statuses += self._retry_task(future, item, "its worker ended")
        return cluster_statuses

    def _retry_task(self, future: Any, value: _Try, reason: str) -> list[ClusterStatus]:
        del self._attempts[future]
        self._client.cancel([future], force=True)
        self._remove(value)
        if value.overdue:
            return []
        if value.count < _TRIES:
            self._queued_tasks.append((value.task, value.count))
            return []
        return [ClusterStatus(value.task.cluster, "lost", value.task.source, message=f"{reason}, {value.count} times")]

    def _time_out_tasks(self) -> list[ClusterStatus]:
        """Tasks whose time is over. Their worker may be stopped; it is free when they end."""
        result = []
        for item in self._attempts.values():
            if not item.overdue and monotonic() >= item.deadline:
                item.overdue = True
                result.append(
                    ClusterStatus(item.task.cluster, "timed-out", item.task.source, seconds=item.task.seconds)
                )
        return result

    def _fail_unserved_tasks(self, workers: frozenset[str]) -> list[ClusterStatus]:
        """Return what waits when all workers are of another version, or none was there for as long as a task may
        take.
        """
        now = monotonic()
        if not self._queued_tasks or any(not item.overdue for item in self._attempts.values()):
            self._last_seen = now
        unfit = bool(workers) and workers <= self._unfit.keys()
        left = [
            task for task, _ in self._queued_tasks if unfit or (task.seconds and now - self._last_seen >= task.seconds)
        ]
        if not left:
            return []
        self._queued_tasks = deque(pair for pair in self._queued_tasks if pair[0] not in left)
        reason = next((cluster_status.message for cluster_status in self._unfit.values()), "no Dask worker is free")
        return [ClusterStatus(task.cluster, "lost", task.source, message=reason) for task in left]

    def _finish_task(self, future: Any) -> list[ClusterStatus]:
        result = self._attempts.get(future)
        if result is None:
            return []
        if future.status != "finished":
            if future.status == "error" and not _is_worker_lost(future.exception()):
                del self._attempts[future]
                self._remove(result)
                message = f"{type(future.exception()).__name__}: {future.exception()}"
                return (
                    []
                    if result.overdue
                    else [ClusterStatus(result.task.cluster, "failed", result.task.source, message=message)]
                )
            return self._retry_task(future, result, "its worker ended")
        del self._attempts[future]
        try:
            status = status_of(future.result(timeout=_SCHEDULER))
        except (msgspec.MsgspecError, OSError, TimeoutError) as error:
            status = ClusterStatus(result.task.cluster, "failed", result.task.source, message=str(error))
        if result.overdue:
            self._remove(result)
            return []
        if status.state == "other-version":
            self._unfit[result.worker] = status
            self._queued_tasks.appendleft((result.task, result.count - 1))
            return []
        return [self._rename_row_file(result, status)]

    def _rename_row_file(self, value: _Try, status: ClusterStatus) -> ClusterStatus:
        """Return the answer, its rows under their own name."""
        if not status.file:
            return status
        try:
            Path(status.file).replace(value.task.file)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            message = f"its rows are not here ({reason}): workers need the same folder {Path(value.task.file).parent}"
            return ClusterStatus(value.task.cluster, "failed", value.task.source, message=message)
        return structs.replace(status, file=value.task.file)

    def _remove(self, value: _Try) -> None:
        if value.asked.part:
            with contextlib.suppress(OSError):
                Path(value.asked.part).unlink(missing_ok=True)


def _is_worker_lost(error: BaseException | None) -> bool:
    """Return whether it says that a worker died."""
    return type(error).__name__ in {"KilledWorker", "CancelledError", "FutureCancelledError"}
