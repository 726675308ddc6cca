"""What ``-v`` tells of requests that are under way at the same time."""

from __future__ import annotations

from threading import Barrier, Thread
from time import sleep

from kubectl_kres.cluster.transport.trace import ANSWERS, Trace


def test_the_headers_of_a_request_stand_together():
    told: list[str] = []
    trace, begin = Trace(lambda line: (told.append(line), sleep(0))[0], ANSWERS), Barrier(8)

    def ask(number: int) -> None:
        begin.wait()
        for turn in range(20):
            url, headers = f"https://h/{number}/{turn}", {"A": f"{number}", "B": f"{number}"}
            trace.request("GET", url, headers)
            trace.answer("GET", url, "200 OK", 0.012, headers, ())

    threads = [Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 8 * 20 * 8
    for first, title, *headers in zip(*[iter(told)] * 4, strict=True):
        number = first.split("/")[3]
        ended = first.endswith(" 200 OK in 12 milliseconds")
        assert title == ("Response Headers:" if ended else "Request Headers:")
        assert headers == [f"    A: {number}", f"    B: {number}"]
