import pytest

from kronbench.bench import clock
from kronbench.bench.clock import TimeCap, repeated


def test_a_law_is_followed_up_to_the_cap():
    cap = TimeCap(100)
    assert cap.allows(10)  # nothing is known
    cap.record(10, 1)
    assert cap.predicted(20) == pytest.approx(4)  # quadratic until two points tell more
    cap.record(20, 8)
    assert cap.predicted(40) == pytest.approx(64)
    assert cap.allows(40)
    assert not cap.allows(80)


def test_noise_in_short_times_does_not_rule_the_prediction():
    cap = TimeCap(100)
    cap.record(10, 1e-4)
    cap.record(20, 1e-2)  # exponent 6.6
    assert cap.predicted(40) == pytest.approx(8e-2)
    falling = TimeCap(100)
    falling.record(10, 2)
    falling.record(20, 1)
    assert falling.predicted(40) == pytest.approx(1)


def test_another_power_for_the_first_prediction():
    cap = TimeCap(1, power=1)
    cap.record(10, 1)
    assert cap.predicted(30) == pytest.approx(3)


def test_repeated_takes_medians_until_there_is_enough(monkeypatch):
    class Watch:
        lengths = iter([0.3, 0.1, 0.2, 9.0])

        def __enter__(self):
            return self

        def __exit__(self, *exception):
            self.seconds = next(self.lengths)
            self.cpu_seconds = 2 * self.seconds

    monkeypatch.setattr(clock, "Stopwatch", Watch)
    calls = []
    result, seconds, cpu_seconds = repeated(lambda: calls.append(0) or len(calls), enough=0.55)
    assert (result, len(calls)) == (3, 3)
    assert (seconds, cpu_seconds) == (0.2, 0.4)
    # One long call is enough.
    assert repeated(lambda: 0)[1] == 9.0
