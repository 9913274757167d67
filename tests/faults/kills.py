"""Runs that are killed at random moments, again and again, and what a plain rerun makes of them.

python -m tests.faults.kills [--kills 120] [--seed 0]
"""

import argparse
import collections
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

from tests.faults.checkout import ROOT, Checkout

KINDS = ("workflow", "job", "both")


class Kills:
    """Runs of one checkout that are killed; each ends, after some kills, with a whole run.

    Parameters
    ----------
    calm : Checkout
        With the results of an undisturbed run.
    make : callable
        Makes a checkout without results, of a number.
    seconds : float
        That the undisturbed run took.
    """

    def __init__(self, calm, make, seconds, seed):
        self._calm, self._make, self._seconds = calm, make, seconds
        self._random = random.Random(seed)
        self.done = collections.Counter()
        self.runs = 0
        self.faults = []

    def one_more(self, kinds, most):
        """One checkout: killed up to ``most`` times, then left alone; the kills that hit."""
        checkout = self._make(self.runs)
        self.runs += 1
        hits = 0
        while hits < most:
            hit = self._killed_run(checkout, self._random.choice(kinds), most - hits)
            if not hit:
                break
            hits += hit
        status, printed = checkout.resume()
        if status:
            self._note(checkout, f"the plain rerun failed:\n{printed}")
        for sentence in checkout.unlike(self._calm, whole=True):
            self._note(checkout, f"at the end: {sentence}")
        status, printed = checkout.run("--dry-run")
        if "Nothing to be done" not in printed:
            self._note(checkout, f"a finished run has more to do:\n{printed}")
        return checkout

    def _killed_run(self, checkout, kind, most):
        # As --unlock does, in no time; the last run of a checkout uses the option itself.
        shutil.rmtree(checkout.folder / ".snakemake/locks", ignore_errors=True)
        run = checkout.start()
        left = _descendants(run)
        hits = 0
        while hits < (most if kind == "job" else 1):
            pause = self._random.uniform(0.2, self._seconds / (8 if kind == "job" else 1))
            with contextlib.suppress(psutil.TimeoutExpired):
                run.wait(pause)
                break
            family = _descendants(run)
            jobs = [process for process in family if is_job(process)]
            left |= family
            if kind == "job":
                if not jobs:
                    continue
                victims = [self._random.choice(sorted(jobs, key=lambda process: process.pid))]
            else:
                victims = [run, *(jobs if kind == "both" else [])]
            for victim in victims:
                with contextlib.suppress(psutil.NoSuchProcess):
                    victim.kill()
            hits += 1
            self.done[kind] += 1
        if kind == "job":
            status = run.wait(600)
            if hits and status and "FAILED: " not in checkout.printed:
                self._note(checkout, f"a killed job was not named:\n{checkout.printed}")
        for sentence in checkout.unlike(self._calm, whole=False):
            self._note(checkout, f"after a kill ({kind}): {sentence}")
        # Some reruns begin at once, some when what was left behind had time to end.
        if hits and self._random.random() < 0.3:
            time.sleep(2)
            for process in left:
                if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                    self._note(checkout, f"lives on ({kind}): {' '.join(process.cmdline()[:8])}")
        return hits

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
    """Seconds of a run that nothing disturbs."""
    begun = time.monotonic()
    status, printed = checkout.run(timeout=1200)  # numba may have to compile first
    assert status == 0, printed
    return time.monotonic() - begun


# Quick items of two papers, none of them timed, one without data.
ITEMS = {
    "airola": {"table-2": {"draws": 3, "n": 40}},
    "stock": {"figure-1": {}, "figure-3": {}},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mirror", type=Path, help="of the data; without, surrogates")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        folder = Path(folder)
        environment, settings = {}, {"data": "surrogate"}
        if arguments.mirror:
            server = stack.enter_context(slow_server(arguments.mirror))
            environment, settings = {"KRONBENCH_MIRROR": server}, {"data": "real"}

        def make(name):
            cache = folder / f"cache-{name}"
            if (folder / "cache-calm").exists():  # the rates of this machine, but no data
                shutil.copytree(folder / "cache-calm" / "rates", cache / "rates")
            variables = {**environment, "KRONBENCH_CACHE": str(cache)}
            return Checkout(folder / str(name), ITEMS, settings, variables, arguments.root)

        calm = make("calm")
        seconds = run_calmly(calm)
        print(f"undisturbed: {seconds:.0f} s", flush=True)
        kills = Kills(calm, make, seconds, arguments.seed)
        begun = time.monotonic()
        while kills.done.total() < arguments.kills:
            checkout = kills.one_more(KINDS, min(25, arguments.kills - kills.done.total()))
            left = [path for path in (folder / f"cache-{checkout.folder.name}").rglob(".*")]
            kills.faults += [f"{path} was left behind" for path in left]
            shutil.rmtree(checkout.folder)
            print(f"{kills.runs} runs: {dict(kills.done)}, {len(kills.faults)} faults", flush=True)
        minutes = (time.monotonic() - begun) / 60
        print(f"{kills.done.total()} kills in {minutes:.1f} minutes: {dict(kills.done)}")
        print(*kills.faults, sep="\n")
    return bool(kills.faults)


@contextlib.contextmanager
def slow_server(folder, rate=2e6):
    """The address of a mirror that sends ``rate`` bytes a second, so that kills meet it."""

    class Slow(http.server.SimpleHTTPRequestHandler):
        def copyfile(self, source, outputfile):
            with contextlib.suppress(OSError):  # the reader was killed
                while block := source.read(1 << 15):
                    outputfile.write(block)
                    time.sleep(len(block) / rate)

        def log_message(self, *_):
            pass

    handler = functools.partial(Slow, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
