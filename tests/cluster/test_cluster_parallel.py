import subprocess
import sys
import threading

import pytest

from kubectl_kres.cluster.transport.parallel import run, start


def test_results_come_in_the_order_of_the_jobs():
    gates = [threading.Event() for _ in range(4)]

    def job(number):
        if number + 1 < len(gates):
            assert gates[number + 1].wait(10)
        gates[number].set()
        return number

    jobs = [lambda number=number: job(number) for number in range(4)]
    assert list(run(jobs, 4)) == [0, 1, 2, 3]


def test_no_more_than_the_width_run_at_once():
    running, most, lock = 0, 0, threading.Lock()

    def job():
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.001)
        with lock:
            running -= 1

    list(run([job] * 20, 3))
    assert 1 <= most <= 3


def test_one_job_needs_no_thread():
    assert list(run([threading.current_thread], 4)) == [threading.current_thread()]
    assert list(run([], 4)) == []


def test_the_first_failure_is_raised_and_what_waits_is_dropped():
    begun, gate = [], threading.Event()

    def fail():
        raise ValueError("no")

    def wait(number):
        begun.append(number)
        gate.wait(10)

    jobs = [fail, *(lambda number=number: wait(number) for number in range(9))]
    with pytest.raises(ValueError, match="no"):
        list(run(jobs, 2))
    gate.set()
    assert len(begun) <= 2


def test_a_job_that_runs_apart_gives_its_outcome():
    assert start(lambda: 7).result(10) == 7
    failed = start(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        failed.result(10)


def test_a_hanging_read_does_not_keep_the_program_from_ending():
    program = (
        "import threading; from kubectl_kres.cluster.transport.parallel import start; start(threading.Event().wait)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=20)
