"""What ``make dist`` runs with the installed package, in a folder away from the checkout."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import kronbench
import kronbench.datasets
import kronbench.models
import kronbench_suite
from kronbench import PairData
from kronbench_suite.runner.plans import load_scales

package = Path(kronbench.__file__).parent
assert not package.is_relative_to(sys.argv[1]), f"{package} is the checkout"

both = [(package.__path__, f"{package.__name__}.") for package in (kronbench, kronbench_suite)]
for module in (module for path in both for module in pkgutil.walk_packages(*path)):
    if not module.name.endswith("__main__"):
        try:
            __import__(module.name)
        except ModuleNotFoundError as error:
            assert error.name == "rlscore", error  # the one that its users install themselves

assert {plan.scale for plan in load_scales()} == {"default", "smoke", "paper"}
assert kronbench.datasets.load("NR", policy="surrogate").source == "surrogate"

rng = np.random.default_rng(0)
pairs = PairData.complete(rng.standard_normal((9, 3)), rng.standard_normal((7, 3)))
y = np.sign(rng.standard_normal(len(pairs)))
assert kronbench.models.KronRidge().fit(pairs, y).predict(pairs).shape == y.shape

run = Path(sys.executable).parent / "kronbench"
for words in (["--version"], ["data", "list"], ["check", "KronRidge"]):
    subprocess.run([run, *words], check=True, stdout=subprocess.DEVNULL)
print(f"kronbench {kronbench.__version__} runs from {package}")
