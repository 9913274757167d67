"""Calls of methods are counted and timed while the block runs, and not after it."""

import time

import pytest

from kronbench.bench.calls import watched_calls


class Worker:
    def rest(self, seconds):
        """Rest."""
        time.sleep(seconds)
        return seconds

    def fail(self):
        raise ValueError


def test_calls_are_counted_and_timed_and_the_methods_are_as_before():
    before = Worker.rest
    with watched_calls({"rest": (Worker, "rest"), "fail": (Worker, "fail")}) as calls:
        assert Worker().rest(0.02) == 0.02
        Worker().rest(seconds=0.01)
        with pytest.raises(ValueError):
            Worker().fail()
        assert Worker.rest.__doc__ == "Rest."
    assert Worker.rest is before
    Worker().rest(0.01)
    assert calls["rest"].count == 2 and 0.03 <= calls["rest"].seconds < 0.5
    assert calls["fail"].count == 1
