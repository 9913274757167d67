"""What several tests need."""

import hashlib
import html
import io
import json
import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

from snakemake.utils import update_config

from kronbench.resources import config_path
from kronbench.yaml_files import read_yaml

ROOT = Path(__file__).parents[1]
WITHOUT_PACKAGE = ("workflow", "config")


def merged(scale=None):
    """The default configuration with a scale laid over it, as Snakemake does."""
    config = read_yaml(config_path("config.yaml"))
    if scale:
        update_config(config, read_yaml(config_path(f"{scale}.yaml")))
    return config


def in_memory(**contents):
    """Files as a parser gets them, named ``<key>.txt``, with these texts or bytes."""
    return {key: _file(f"{key}.txt", content) for key, content in contents.items()}


def _file(name, content):
    content = content.encode("latin-1") if isinstance(content, str) else content
    return types.SimpleNamespace(
        name=name,
        open=lambda: io.BytesIO(content),
        text=lambda encoding="utf-8": content.decode(encoding),
    )


def matrix(frame, value):
    """The entries of a frame with the columns ``row`` and ``col`` as a matrix of ``value``."""
    return frame.pivot(index="row", columns="col", values=value).to_numpy()


def seal(table):
    """Put the sha256 of a result table, or of an item's numbers, into the record beside it."""
    record = table.with_suffix(".json")
    content = json.loads(record.read_text()) if record.exists() else {}
    content.setdefault("sha256", {})["csv"] = hashlib.sha256(table.read_bytes()).hexdigest()
    record.write_text(json.dumps(content))


def copy_checkout(folder, names=("workflow", "config", "src"), root=ROOT):
    """What Snakemake needs of the checkout, the package included, with dates of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(root / "Snakefile", folder)  # a link would be deployed as a link
    for name in names:
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "profiles").symlink_to("workflow/profiles")


def snakemake(folder, *arguments, timeout, sources=ROOT / "src", **environment):
    """Snakemake run in a folder, with the package of ``sources``, and no mirror unless given."""
    return subprocess.run(
        [sys.executable, "-m", "snakemake", *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(sources),
            "KRONBENCH_MIRROR": "",
            **environment,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
    )


def due(folder, *arguments, **environment):
    """Messages of the jobs that a smoke run would start, without the target that has no shell."""
    scale = ("--dry-run", "--cores", "2", "--configfile", "config/smoke.yaml")
    run = snakemake(folder, *scale, *arguments, sources=folder / "src", timeout=300, **environment)
    assert run.returncode == 0, run.stdout
    jobs = set(re.findall(r"^due: (.*?)  \(", run.stdout, re.MULTILINE)) - {"all"}
    assert jobs or "Nothing to be done" in run.stdout, run.stdout
    return jobs


def check_pages(folder):
    """Links of the pages of a run lead to pages beside them and to places there; no others do.

    Pictures, styles and scripts are inside.
    """
    texts = {path.name: path.read_text() for path in folder.glob("*.html")}
    ids = {name: set(re.findall(r' id="([^"]*)"', text)) for name, text in texts.items()}
    for name, text in texts.items():
        assert not re.search(r'<link|<script src|url\((?!"data:)|@import', text), name
        for kind, address in re.findall(r'\b(src|href)="([^"]*)"', text):
            page, _, place = address.partition("#")
            if not address.startswith("data:"):
                assert kind == "href", address
                assert (folder / (page or name)).exists(), f"{name}: {address}"
            if place:
                assert place.partition("?")[0] in {"", *ids[page or name]}, f"{name}: {address}"
    assert len(texts["index.html"].encode()) < 500_000
    # The numbers of the matrix are those of the claims that they lead to.
    rows = re.findall(r'<tr role="row" id="claim-[^>]*', texts["claims.html"])
    rows = [dict(re.findall(r'data-(\w+)="([^"]*)"', row)) for row in rows]
    found = re.findall(r'href="claims.html#claims\?([^"]*)"[^>]*>(\d+)[^<]*<', texts["index.html"])
    assert found
    for query, number in found:
        wanted = dict(part.split("=") for part in html.unescape(query).split("&"))
        fits = [row for row in rows if all(v in row[k].split() for k, v in wanted.items())]
        n_hold = sum(row["verdict"] == "holds" for row in fits)
        assert int(number) == (n_hold if "verdict" not in wanted else len(fits)), query
