"""Runs that are killed at random moments, again and again, and what a plain rerun makes of them.

python -m tests.faults.kills [--kills 100] [--seed 0] [--mirror FOLDER]
"""

import argparse
import collections
import concurrent.futures
import contextlib
import functools
import http.server
import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

from tests.faults.checkout import COMPILED, Checkout

KINDS = ("workflow", "job", "both")
PER_CHECKOUT = 20  # kills, before a run that is left alone


class Kills:
    """Kills of runs, at moments drawn from a seed, and what was wrong afterwards.

    ``calm`` is the checkout of an undisturbed run, which took ``seconds`` after compiling.
    """

    def __init__(self, calm, seconds, seed):
        self._calm, self._seconds = calm, seconds
        self._random = random.Random(seed)
        self.done = collections.Counter()
        self.faults = []

    def one_more(self, checkout, most):
        """Kill the runs of a checkout up to ``most`` times, then look at a run that is left alone.

        After each kill the outputs that are there have to be those of the undisturbed run, in the
        end all have to, with nothing beside them but hidden temporary files.
        """
        hits = 0
        while hits < most:
            hit = self._killed_run(checkout, self._random.choice(KINDS), most - hits)
            if not hit:
                break  # it was done before
            hits += hit
        status, printed = checkout.resume()
        if status:
            self._note(checkout, f"the plain rerun failed:\n{printed}")
        for sentence in checkout.unlike(self._calm, whole=True):
            self._note(checkout, f"at the end: {sentence}")
        status, printed = checkout.run("--dry-run")
        if "Nothing to be done" not in printed:
            self._note(checkout, f"a finished run has more to do:\n{printed}")

    def _killed_run(self, checkout, kind, most):
        # As --unlock does, in no time; resume uses the option itself.
        shutil.rmtree(checkout.folder / ".snakemake/locks", ignore_errors=True)
        run = checkout.start(*(("--retries", "2") if kind == "job" else ()))
        left, hits = set(), 0
        in_job = kind == "job" or self._random.random() < 0.85
        while hits < (most if kind == "job" else 1) and self._waited(run, in_job):
            family = _descendants(run)
            jobs = sorted(filter(is_job, family), key=lambda process: process.pid)
            left |= family
            if kind == "job" and not jobs:
                continue  # it ended meanwhile
            for victim in {
                "workflow": [run],
                "job": [self._random.choice(jobs or [run])],
                "both": [run, *jobs],
            }[kind]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    victim.kill()
            hits += 1
            self.done[kind] += 1
        status = run.wait(1200)
        if kind == "job" and status and "FAILED: " not in checkout.printed:
            self._note(checkout, f"a killed job was not named:\n{checkout.printed}")
        # Some reruns begin at once, some when nothing of the killed run is there any more.
        if hits and self._random.random() < 0.5:
            for process in psutil.wait_procs(left, timeout=30)[1]:
                self._note(checkout, f"lives on after a kill ({kind}): {process}")
        for sentence in checkout.unlike(self._calm, whole=False):
            self._note(checkout, f"after a kill ({kind}): {sentence}")
        return hits

    def _waited(self, run, in_job):
        """Whether a run goes on after a random time, in which it starts a job if it has to."""
        while in_job and run.is_running() and not any(map(is_job, _descendants(run))):
            with contextlib.suppress(psutil.TimeoutExpired):
                run.wait(0.1)
        # Often so short that Python has not begun to read the job's modules.
        shortest, longest = 0.02, self._seconds / 4
        pause = shortest * (longest / shortest) ** self._random.random()
        with contextlib.suppress(psutil.TimeoutExpired):
            run.wait(pause)
        return run.is_running()

    def _note(self, checkout, sentence):
        print(f"{checkout.folder.name}: {sentence}", file=sys.stderr, flush=True)
        self.faults.append(sentence)


def _descendants(process):
    with contextlib.suppress(psutil.NoSuchProcess):
        return set(process.children(recursive=True))
    return set()


def is_job(process):
    """A job, or the shell that waits for it."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return "-m kronbench" in " ".join(process.cmdline())
    return False


def run_calmly(checkout):
    """Seconds of a run that nothing disturbs, after its kernels are compiled."""
    status, printed = checkout.run()
    assert status == 0, printed
    return time.time() - (checkout.results / "compiled.json").stat().st_mtime


# Quick ones, none of them timed: a table without data, a figure with a data set.
ITEMS = {"airola": {"table-2": {"repetitions": 3, "n": 40}}, "stock": {"figure-3": {}}}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=2, help="runs beside each other")
    parser.add_argument("--mirror", type=Path, help="of the data; without, surrogates")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        variables, settings = {}, {"data": "surrogate"}
        if arguments.mirror:
            server = stack.enter_context(slow_server(arguments.mirror))
            variables, settings = {"KRONBENCH_MIRROR": server}, {"data": "real"}

        def make(name):
            cache = {"KRONBENCH_CACHE": f"{folder}/cache-{name}"}
            return Checkout(Path(folder, name), ITEMS, settings, {**variables, **cache})

        calm = make("calm")
        seconds = run_calmly(calm)
        print(f"undisturbed: {seconds:.0f} s", flush=True)
        return kill_many(make, calm, seconds, arguments.kills, arguments.seed, arguments.at_once)


def kill_many(make, calm, seconds, n_kills, seed, at_once):
    """Kill the runs of checkouts, ``PER_CHECKOUT`` each; 1 where something was wrong."""
    begun = time.monotonic()

    def of_one(number):
        kills = Kills(calm, seconds, seed + number)
        checkout = make(f"run-{number}")
        checkout.take(calm, *COMPILED)
        kills.one_more(checkout, PER_CHECKOUT)
        print(f"{checkout.folder.name}: {dict(kills.done)}, {kills.faults}", flush=True)
        shutil.rmtree(checkout.folder)
        return kills

    done, faults, runs = collections.Counter(), [], 0
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        while done.total() < n_kills:
            missing = max(1, (n_kills - done.total()) // PER_CHECKOUT)
            for kills in pool.map(of_one, range(runs, runs + missing)):
                done += kills.done
                faults += kills.faults
            runs += missing
    minutes = (time.monotonic() - begun) / 60
    print(f"{done.total()} kills in {minutes:.1f} minutes, {runs} checkouts: {dict(done)}")
    print(f"{len(faults)} faults", *faults, sep="\n")
    return int(bool(faults))


@contextlib.contextmanager
def slow_server(folder, rate=2e4, port=0):
    """The address of a mirror that sends ``rate`` bytes a second, so that kills meet it."""

    class Slow(http.server.SimpleHTTPRequestHandler):
        def copyfile(self, source, outputfile):
            with contextlib.suppress(OSError):  # the reader was killed
                while block := source.read(1 << 10):
                    outputfile.write(block)
                    time.sleep(len(block) / rate)

        def log_message(self, *_):
            pass

    handler = functools.partial(Slow, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
