"""Worker processes on this machine, each watched: one that ends or takes too long costs its own cluster alone."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread, Timer
from typing import IO, Any, Final

import msgspec

from kubectl_kres.fleet.status import ClusterStatus, encode
from kubectl_kres.fleet.task import FleetTask, status_of

#: Seconds until a thread has noticed that its process was killed.
_LEAVE = 5.0

#: Ctrl-C of the terminal is the supervisor's.
_APART: Final[Mapping[str, Any]] = (
    {"process_group": 0}
    if os.name == "posix"
    else {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
)


def run_tasks(tasks: Sequence[FleetTask], command: Sequence[str], *, width: int) -> Generator[ClusterStatus]:
    """Yield the status of each task, as they come. ``command`` starts a worker (``worker.serve``), ``width`` side by
    side.

    A worker that takes longer than its task may is killed. Workers that are still busy when the generator is closed are
    killed, and no rows are left that are not whole. Raises OSError if none can be started.
    """
    waiting, done = deque(tasks), SimpleQueue[ClusterStatus | OSError]()
    slots = [_Slot(command) for _ in range(min(width, len(tasks)))]
    threads = [Thread(target=_run_tasks, args=(slot, waiting, done.put), daemon=True) for slot in slots]
    for thread in threads:
        thread.start()
    try:
        for _ in tasks:
            result = done.get()
            if isinstance(result, OSError):
                raise result
            yield result
    finally:
        waiting.clear()
        for slot in slots:
            slot.close()
        for thread in threads:
            thread.join(_LEAVE)


def _run_tasks(slot: _Slot, waiting: deque[FleetTask], tell: Callable[[ClusterStatus | OSError], None]) -> None:
    try:
        while waiting:
            try:
                task = waiting.popleft()
            except IndexError:
                break  # another thread has the last one
            tell(_status(slot, task))
    except OSError as error:
        tell(error)
    finally:
        slot.leave()


def _status(slot: _Slot, task: FleetTask) -> ClusterStatus:
    """Return the worker's answer. A bug of ours costs this cluster: whoever waits for a status gets one for each task.

    Raises OSError if no worker can be started.
    """
    try:
        return slot.answer(task)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a status
        slot.leave()
        message = f"a bug in kubectl-kres: {type(error).__name__}: {error}"
        return ClusterStatus(task.cluster, "failed", task.source, message=message)


class _Slot:
    """One place for a worker: its process is replaced when it has ended."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = tuple(command)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()
        self._closed = False

    def close(self) -> None:
        """Kill the worker, and start no other."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                _kill(self._process)

    def answer(self, task: FleetTask) -> ClusterStatus:
        """Return the worker's answer, or what became of the worker. Raises OSError if none can be started."""
        process = self._start_task(task)
        if process is None:
            return ClusterStatus(task.cluster, "stopped", task.source)
        watch = _Watch(process, task.seconds)
        line = _stream(process.stdout).readline()
        late = watch.has_ended()
        if line.endswith(b"\n") and not late:
            try:
                return status_of(line)
            except msgspec.MsgspecError as error:
                self.leave()
                return ClusterStatus(task.cluster, "lost", task.source, message=f"its worker answered: {error}")
        ended = self.leave()
        if task.part:
            Path(task.part).unlink(missing_ok=True)
        if late:
            return ClusterStatus(task.cluster, "timed-out", task.source, seconds=task.seconds)
        return ClusterStatus(task.cluster, "lost", task.source, ended=ended)

    def _start_task(self, task: FleetTask) -> subprocess.Popen[bytes] | None:
        """Return a worker that has the task; None once the slot is closed. One that ended while it was idle costs
        nothing.
        """
        for _ in range(2):
            with self._lock:
                if self._closed:
                    return None
                if self._process is None:
                    self._process = subprocess.Popen(
                        self._command,
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        **_APART,
                    )
                process = self._process
            stream = _stream(process.stdin)
            try:
                stream.write(encode(task))
                stream.flush()
            except BrokenPipeError:
                self.leave()
            else:
                return process
        raise OSError(f"workers end before they begin: {' '.join(self._command)}")

    def leave(self) -> int:
        """Ends the worker, if there is one: how it ended. The next task gets another one."""
        process = self._process
        if process is None:
            return 0
        _kill(process)
        ended = process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(BrokenPipeError):  # what it was reported last did not reach it
                _stream(stream).close()
        with self._lock:
            self._process = None
        return ended


class _Watch:
    """Kills a process that does not answer in time."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self._process, self._lock = process, Lock()
        self._done = self._timed_out = False
        self._timer = Timer(seconds, self._kill) if seconds else None
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def _kill(self) -> None:
        with self._lock:
            if not self._done:
                self._timed_out = True
                _kill(self._process)

    def has_ended(self) -> bool:
        """It answered or ended: whether it was killed before that."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._done = True
            return self._timed_out


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the worker and what it started, also if it is stopped."""
    if process.poll() is not None:
        return
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _stream(value: IO[bytes] | None) -> IO[bytes]:
    assert value is not None
    return value
