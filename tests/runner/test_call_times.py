"""Calls of methods are counted and timed while the block runs, and not after it."""

import pytest

from kronbench.runner import call_times
from kronbench.runner.call_times import Calls, watched_calls


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


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Seconds pass where a method says so."""
    monkeypatch.setattr(call_times.time, "perf_counter", lambda: Base.clock)


def test_calls_are_counted_and_each_second_belongs_to_one_of_them():
    names = ("rest", "work", "fail")
    with watched_calls({name: (Worker, name) for name in names}) as calls:
        assert Worker().work(8.0) == 0.75
        with pytest.raises(ValueError):
            Worker().fail()
        assert Worker.rest.__doc__ == "Rest."
    assert calls == {"rest": Calls(3, 2.75), "work": Calls(1, 8.0), "fail": Calls(1, 0.0)}


def test_the_methods_are_as_before_after_the_block():
    work = Worker.work
    with watched_calls({"rest": (Worker, "rest"), "work": (Worker, "work")}) as calls:
        assert "rest" in vars(Worker)
        assert Worker.work is not work
    assert "rest" not in vars(Worker)
    assert Worker.work is work
    Worker().work(1.0)
    assert calls["work"].count == 0
