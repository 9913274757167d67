"""Solvers and data sets from outside the repository, as every job of a run finds them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from kronbench.errors import InputError
from kronbench.resources import add_paper, shipped_papers

PAPER_NAME = "[a-z][a-z0-9-]*"


def use_outside(user: Mapping[str, str]) -> None:
    """Make the folder and the registry of a configuration's ``user`` known to this process."""
    for folder in map(Path, user.get("papers", ())):
        _check_paper(folder)
        add_paper(folder)
    if path := user.get("path"):
        if not Path(path).is_dir():
            raise InputError(f"user.path: {path} is not a folder: run 'kronbench run-with' again")
        if path not in sys.path:
            sys.path.insert(0, path)
    if registry := user.get("registry"):
        os.environ["KRONBENCH_REGISTRY"] = registry


def _check_paper(folder):
    name = folder.name
    if name in shipped_papers():
        raise InputError(f"{folder} has the name of a shipped paper: rename the folder")
    if not re.fullmatch(PAPER_NAME, name):
        raise InputError(
            f"{folder}: its name becomes that of the paper: use lower-case letters, digits "
            "and hyphens, a letter first"
        )
    if not (folder / "paper.yaml").is_file():
        raise InputError(
            f"{folder} has no paper.yaml: a paper is a folder with paper.yaml, claims/, printed/, "
            "measure/ and draw/ (docs/tutorials/paper.md)"
        )
