"""Solvers and data sets from outside the repository, as every job of a run finds them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from kronbench.errors import InputError


def use_outside(user: Mapping[str, str]) -> None:
    """Make the folder and the registry of a configuration's ``user`` known to this process.

    Parameters
    ----------
    user : mapping
        ``path``, a folder before the import path, and ``registry``, a file of data sets that
        takes the place of ``KRONBENCH_REGISTRY``; each may be left out.

    Raises
    ------
    InputError
        There is no such folder.
    """
    if path := user.get("path"):
        if not Path(path).is_dir():
            raise InputError(f"user.path: {path} is no folder: run 'kronbench run-with' again")
        if path not in sys.path:
            sys.path.insert(0, path)
    if registry := user.get("registry"):
        os.environ["KRONBENCH_REGISTRY"] = registry


def commit_of(folder: Path) -> str:
    """The git commit at which a folder stands, "+ changes" behind it; "" outside of git."""
    commit = _git(folder, "rev-parse", "HEAD")
    changed = commit and _git(folder, "status", "--porcelain", "--", ".")
    return f"{commit} + changes" if changed else commit


def _git(folder, *arguments):
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
    except OSError:  # no git, or no such folder
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
