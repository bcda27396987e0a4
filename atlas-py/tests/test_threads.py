import threading
import time

import swe_atlas

TESTS = 200_000


def big_log() -> bytes:
    lines = [f"tests/test_{n // 50}.py::test_case[{n}] PASSED\n" for n in range(TESTS)]
    head = f"=== test session starts ===\ncollected {TESTS} items\n\n"
    return (head + "".join(lines) + f"\n=== {TESTS} passed in 9.99s ===\n").encode()


def test_other_threads_run_while_logs_are_parsed() -> None:
    log = big_log()
    started = time.perf_counter()
    swe_atlas.parse_log(log, "pytest")
    alone = time.perf_counter() - started

    done: list[int] = []

    def parse() -> None:
        done.append(len(swe_atlas.parse_log(log, "pytest").tests))

    workers = [threading.Thread(target=parse) for _ in range(2)]
    longest, last = 0.0, time.perf_counter()
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        time.sleep(0.001)
        now = time.perf_counter()
        # Building the dict of the result needs the lock, parsing must not.
        if not done:
            longest = max(longest, now - last)
        last = now
    assert done == [TESTS, TESTS]
    assert longest < max(alone / 2, 0.05), f"silent for {longest} s of a parse of {alone} s"
