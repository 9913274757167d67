"""The commands on one's own pairs where no extra of the package is installed.

``make dist`` runs it where the wheel and what it requires are all there is. ``make test`` runs it
with what the core requires as its arguments: an import of any other package is then refused.
"""

import importlib.metadata as metadata
import os
import re
import sys
import tempfile
from pathlib import Path

MIRROR = os.environ.pop("KRONBENCH_MIRROR", "")


def closure(requirements):
    """Names of the installed distributions that these requirements bring."""
    found, wanted = set(), list(requirements)
    while wanted:
        requirement = wanted.pop()
        name = re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")
        if "extra ==" in requirement or name in found:
            continue
        try:
            wanted += metadata.requires(name) or ()
        except metadata.PackageNotFoundError:  # of another Python or system
            continue
        found.add(name)
    return found


class Refused:
    """Finds no module of a distribution beside those of the core."""

    def __init__(self, core):
        names = metadata.packages_distributions()
        core = {*core, "kronbench"}
        self.refused = {
            module
            for module, owners in names.items()
            if not core & {owner.lower().replace("_", "-") for owner in owners}
        }

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.refused:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


if len(sys.argv) > 1:
    refused = Refused(closure(sys.argv[1:]))
    assert {"snakemake", "matplotlib", "jsonschema", "jinja2", "libsvm"} <= refused.refused
    sys.meta_path.insert(0, refused)

from kronbench_suite.cli import main  # noqa: E402

assert not {"numpy", "numba", "sklearn"} & set(sys.modules), "a command loads what it may not need"

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

from kronbench import InputError, PairData, models  # noqa: E402
from kronbench.evaluation import roc_auc  # noqa: E402

folder = Path(tempfile.mkdtemp())
os.environ["KRONBENCH_CACHE"] = str(folder)
rng = np.random.default_rng(0)
drugs, targets = rng.standard_normal((12, 3)), rng.standard_normal((9, 2))
i, j = np.divmod(rng.permutation(12 * 9)[:90], 9)
labels = (drugs[i, 0] * targets[j, 0] > 0).astype(int)


def written(name, **columns):
    """A table in the folder, as an option."""
    path = folder / f"{name}.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return f"--{name}={path}"


def run(*words, status=0):
    assert main([str(word) for word in words]) == status, words


tables = (
    written("pairs", drug=i, target=j, active=labels),
    written("rows", drug=range(12), mass=drugs[:, 0], charge=drugs[:, 1], rings=drugs[:, 2]),
    written("cols", target=range(9), length=targets[:, 0], charge=targets[:, 1]),
)
model, predicted = folder / "model.kron", folder / "predicted.csv"
run("check", "KronRidge")
run("evaluate", *tables, "--solver", "KronSVM", "--repeats", 1)
run("fit", *tables, "--solver", "KronRidge", "--select", "-o", model)
run("screen", model, "--top", 3, "-o", predicted)
assert len(pd.read_csv(predicted)) == 3
run("predict", model, tables[0], "-o", predicted)
run("completion", "bash")
scores = pd.read_csv(predicted).iloc[:, -1].to_numpy()
assert roc_auc(labels, scores) > 0.9

# Sequences need numpy and scipy alone.
fasta, kmers = folder / "targets.fasta", folder / "kmers.kron"
fasta.write_text("".join(f">{k}\n{'MKVLAAG'[k % 7 :]}MKVL\n" for k in range(9)))
run("fit", *tables[:2], "--cols", fasta, "--solver", "KronRidge", "-o", kmers)
run("screen", kmers, "--cols", fasta, "-o", folder / "hits.csv")

# A published test set: its ids, and one number for all of them, are any table's.
if MIRROR:
    from kronbench import datasets

    os.environ["KRONBENCH_MIRROR"] = MIRROR
    data = datasets.load("davis", policy="real")
    fold = datasets.folds("davis", "deepdta-1", policy="real", data=data)
    ids = data["row_ids"][fold.rows[fold.test]], data["col_ids"][fold.cols[fold.test]]
    path = written("scored", drug=ids[0], target=ids[1], y=5.0).partition("=")[2]
    run("score", path, "--data", "davis", "--folds", "deepdta-1")
    from kronbench.datasets.drug_target import kernels

    kernels(datasets.load("NR", policy="real"))  # as docs/own-pairs.md has it
    del os.environ["KRONBENCH_MIRROR"]

# A download needs no extra: here it ends at an address that does not answer.
from kronbench.datasets.fetch import NoAnswerError, transfer  # noqa: E402

try:
    transfer("http://127.0.0.1:9/none", folder / "none", 10, 10)
    raise AssertionError("nothing listens at port 9")
except NoAnswerError:
    pass

# What needs an extra says which, in one sentence: the status is that of bad input.
parquet = folder / "rows.parquet"
parquet.write_bytes(b"PAR1")
os.environ["KRONBENCH_REGISTRY"] = str(folder / "own.yaml")
Path(os.environ["KRONBENCH_REGISTRY"]).write_text("{}")
run("evaluate", "--data", "own", "--solver", "KronSVM", status=2)
del os.environ["KRONBENCH_REGISTRY"]
run("evaluate", *tables, "--solver", "PairLibSVM", status=2)
run("evaluate", tables[0], "--rows", parquet, tables[2], "--solver", "KronSVM", status=2)
smiles = written("smiles", drug=range(12), smiles=["C" * (k + 1) for k in range(12)])
run(
    "evaluate",
    tables[0],
    smiles.replace("--smiles", "--rows"),
    tables[2],
    "--solver=KronSVM",
    status=2,
)
run("page", status=2)
try:
    pairs = PairData(drugs, targets, i, j)
    models.PairLibSVM().fit(pairs, labels)
    raise AssertionError("PairLibSVM fits without LibSVM")
except InputError as error:
    assert "pip install 'kronbench[suite]'" in str(error)
if len(sys.argv) == 1:
    files = [file for name in metadata.distributions() for file in name.files or ()]
    sizes = sum(path.stat().st_size for file in files if (path := Path(file.locate())).is_file())
    number = len({name.name for name in metadata.distributions()} - {"pip", "setuptools"})
    print(f"the core: {number} distributions, {sizes / 1e6:.0f} MB with pip")
