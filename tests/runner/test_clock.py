import math
import multiprocessing
import os
import subprocess
import sys
import time

import pytest

from kronbench_suite.runner import clock
from kronbench_suite.runner.clock import (
    Calls,
    Stopwatch,
    TimeCap,
    Timing,
    measure,
    time_interleaved,
    watched_calls,
)


@pytest.mark.parametrize(
    ("power", "records", "size", "seconds"),
    [
        (2, [], 10, 0),  # nothing is known
        (2, [(10, 1)], 20, 4),  # quadratic until two points tell more
        (1, [(10, 1)], 30, 3),
        (2, [(10, 1), (20, 8)], 40, 64),
        (2, [(10, 1e-4), (20, 1e-2)], 40, 8e-2),  # exponent 6.6, of short times
        (2, [(10, 2), (20, 1)], 40, 1),
        # points of one size say nothing of the power, as sizes that are capped to equal pairs
        (2, [(10, 1), (10, 2)], 10, 2),
        (2, [(10, 1), (10, 2)], 20, 8),
        (2, [(10, 1), (10, 2), (20, 4), (20, 4)], 40, 8),
    ],
)
def test_a_time_is_predicted_from_those_of_smaller_problems(power, records, size, seconds):
    cap = TimeCap(63, power=power)
    for record in records:
        cap.record(*record)
    assert cap.predicted(size) == pytest.approx(seconds)
    assert cap.allows(size) == (seconds <= 63)


@pytest.fixture
def lengths(monkeypatch):
    """Calls take the seconds that the test puts here, one after the other."""
    seconds = []

    class Watch:
        def __enter__(self):
            return self

        def __exit__(self, *exception):
            self.seconds = seconds.pop(0)
            self.cpu_seconds = 2 * self.seconds
            self.waited_seconds = 0.0

    monkeypatch.setattr(clock, "Stopwatch", Watch)
    return seconds


def test_medians_and_spread_until_there_is_enough(lengths):
    lengths += [0.3, 0.1, 0.2, 0.4, 9.0]
    calls = []
    result, timing = measure(lambda: calls.append(0) or len(calls), min_seconds=0.9)
    assert (result, timing.repeats) == (4, 4)
    assert timing.seconds == pytest.approx(0.25)
    assert timing.cpu_seconds == pytest.approx(0.5)
    assert (timing.seconds_low, timing.seconds_high) == (0.1, 0.4)


def test_short_points_are_repeated_and_long_ones_are_not(lengths):
    lengths += [0.9, 0.9, 0.9]
    assert measure(lambda: 0)[1].repeats == 3
    lengths += [11.0, 11.0]
    assert measure(lambda: 0)[1].repeats == 1


def test_solvers_take_turns(lengths):
    lengths += [0.1, 3.0, 0.1, 3.0, 0.1]
    order = []
    found = time_interleaved(
        {"fast": lambda: order.append("fast"), "slow": lambda: order.append("slow")}, min_seconds=0
    )
    assert order == ["fast", "slow", "fast", "slow", "fast"]
    assert [timing.repeats for _, timing in found.values()] == [3, 2]


def test_a_stopwatch_adds_up_its_blocks(monkeypatch):
    now = 5.0
    monkeypatch.setattr(clock.time, "perf_counter", lambda: now)
    watch = Stopwatch()
    for seconds in (0.25, 0.5):
        with watch:
            now += seconds
        now += 8.0  # between the blocks
    assert watch.seconds == 0.75
    assert watch.timing().repeats == 1


def test_the_thread_that_waited_longest_counts(monkeypatch):
    """A thread that is new has waited for the host of a virtual machine at most until now."""
    host = clock._HOST
    waited = iter([{host: 1.0, "old": 5.0}, {host: 1.5, "old": 5.75, "new": 2.5}])
    monkeypatch.setattr(clock, "_waited", lambda: next(waited))
    with Stopwatch() as watch:
        pass
    assert watch.waited_seconds == 1.5


def test_processor_seconds_of_programs_that_ended_count():
    spin = "import time\nwhile time.process_time() < 0.3: pass"
    with Stopwatch() as watch:
        subprocess.run([sys.executable, "-c", spin], check=True)
    assert watch.cpu_seconds >= 0.3


def _spin(processor, seconds, spins=None):
    os.sched_setaffinity(0, {processor})
    if spins is not None:
        spins.set()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_a_row_says_that_another_program_had_the_processor():
    """Two programs bound to one processor: each gets half, and the row says so."""
    own, processor = os.sched_getaffinity(0), min(os.sched_getaffinity(0))
    context = multiprocessing.get_context("spawn")
    spins = context.Event()
    other = context.Process(target=_spin, args=(processor, math.inf, spins), daemon=True)
    other.start()
    try:
        spins.wait()
        os.sched_setaffinity(0, {processor})
        _, timing = measure(lambda: _spin(processor, 0.3))
    finally:
        os.sched_setaffinity(0, own)
        other.kill()
        other.join()
    assert timing.busy
    assert timing.waiting > 0.2
    assert timing.columns()["processors"] < 0.8


def test_pieces_of_work_add_up():
    first = Timing(1.0, 0.9, 1.2, 3, 2.0, 0.0, 2)
    second = Timing(2.0, 2.0, 2.0, 1, 2.0, 0.6, 2)
    both = first + second
    assert (both.seconds, both.seconds_low, both.seconds_high) == (3.0, 2.9, 3.2)
    assert both.waiting == pytest.approx(0.4)
    assert both.busy
    assert not first.busy


def test_the_peak_of_a_process_is_not_that_of_its_parent():
    held = bytearray(b"x" * 2**28)
    parent = clock.peak_mib()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        child = pool.apply(clock.peak_mib)
        pool.apply(_hold, (2**28,))
        after = pool.apply(clock.peak_mib)
    assert parent > len(held) / 2**20 > child
    assert after > child + 200


def _hold(size):
    return len(bytearray(b"x" * size))


class Base:
    clock = 0.0

    def rest(self, seconds):
        """Rest."""
        Base.clock += seconds
        return seconds


class Worker(Base):
    def work(self, seconds):
        Base.clock += seconds
        return self.rest(0.5) + self.rest(seconds=0.25)

    def fail(self):
        self.rest(2.0)
        raise ValueError


def test_calls_are_counted_and_each_second_belongs_to_one_of_them(monkeypatch):
    monkeypatch.setattr(clock.time, "perf_counter", lambda: Base.clock)
    names, work = ("rest", "work", "fail"), Worker.work
    with watched_calls({name: (Worker, name) for name in names}) as calls:
        assert Worker().work(8.0) == 0.75
        with pytest.raises(ValueError):
            Worker().fail()
        assert Worker.rest.__doc__ == "Rest."
    assert calls == {"rest": Calls(3, 2.75), "work": Calls(1, 8.0), "fail": Calls(1, 0.0)}
    # afterwards the methods are as before, the one of the base class too
    assert "rest" not in vars(Worker)
    assert Worker.work is work
