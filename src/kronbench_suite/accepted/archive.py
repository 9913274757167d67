"""A finished run as one zip file that others can keep, check and read (docs/publishing.md)."""

from __future__ import annotations

import hashlib
import json
import mimetypes
import re
import subprocess
import zipfile
from pathlib import Path

from kronbench.errors import InputError
from kronbench.files import checked, replacing
from kronbench_suite.resources import checkout_path
from kronbench_suite.runner.accepted_tables import surroundings

MANIFEST, CRATE = "manifest-sha256.txt", "ro-crate-metadata.json"

# What is kept of a folder of results, and what of the checkout that made it.
_KINDS = {*(".csv", ".json", ".md", ".pdf", ".png", ".html", ".txt", ".yaml")}
_SOURCES = ("Snakefile", "workflow", "config", "requirements.lock", "LICENSE", "CITATION.cff")

_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
_README = """\
# A run of Kronbench, scale {scale}

Measured from {first} to {last}. `results/{scale}/report/index.html` is the overview of its pages;
each table under `tables/` has a sidecar of parameters, data, versions and machine. The workflow is
as it lay in the checkout when the archive was made. Left out are data sets, which have their own
terms, and logs. `sha256sum -c {manifest}` checks the files.

```
{summary}```
"""


def archive(folder: str | Path, target: str | Path, author: str | None = None) -> str:
    """Write a finished run into one zip file, whole or not at all; tell its size and sum."""
    folder, target = Path(folder), Path(target)
    if not all((folder / name).exists() for name in ("report/summary.txt", "config.yaml")):
        raise InputError(
            f"{folder} is not a finished run: config.yaml or report/summary.txt is missing; "
            "give results/<scale> after snakemake has made its page"
        )
    # A damaged table is not archived.
    for record in folder.glob("*/tables/**/[!.]*.json"):
        checked(record.with_suffix(".csv"))
    scale, about = folder.resolve().name, surroundings(folder)
    contents = {
        name: path.read_bytes() for name, path in sorted(_archived_files(folder, scale).items())
    }
    summary = (folder / "report" / "summary.txt").read_text(encoding="utf-8")
    readme = _README.format(scale=scale, manifest=MANIFEST, summary=summary, **about)
    contents["README.md"] = readme.encode()
    # The description in JSON-LD, then the sums of all files, its own among them.
    crate = json.dumps(_crate(scale, contents, about, author), indent=1, ensure_ascii=False)
    contents[CRATE] = (crate + "\n").encode()
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    contents[MANIFEST] = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()
    # The same files give the same bytes: every file has the date of the last measurement.
    date = tuple(int(part) for part in re.findall(r"\d+", about["last"])[:6])
    with replacing(target) as temporary, zipfile.ZipFile(temporary, "w") as packed:
        for name, content in contents.items():
            info = zipfile.ZipInfo(name, date)
            info.external_attr = 0o100644 << 16
            packed.writestr(info, content, zipfile.ZIP_DEFLATED)
    size, total = target.stat().st_size / 2**20, hashlib.sha256(target.read_bytes()).hexdigest()
    return f"{target}: {len(contents)} files, {size:.1f} MiB, sha256 {total}"


def _archived_files(folder, scale):
    """Files of the run, and what git tracks of the workflow, by their names in the archive."""
    root = checkout_path()
    command = ["git", "ls-files", "-z", "--", *_SOURCES]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if not listed.stdout:
        raise InputError(f"{root} is not a git checkout of the workflow: run kronbench in a clone")
    files = {name: root / name for name in listed.stdout.rstrip("\0").split("\0")}
    # Results without logs and what a killed job left, and predictions, but no data sets.
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        hidden = parts[0] == "logs" or any(part.startswith(".") for part in parts)
        predictions = path.suffix == ".npz" and "tables" in parts
        kept = (path.suffix in _KINDS or predictions) and not hidden
        if kept and path.is_file() and not path.is_symlink():
            files["/".join(("results", scale, *parts))] = path
    return files


def _crate(scale, contents, about, author):
    """The description in JSON-LD: every file, the workflow, and the run that made the results."""
    from rocrate.model import ContextEntity, Person
    from rocrate.rocrate import ROCrate

    crate = ROCrate(version="1.1")
    crate.metadata.extra_contexts.append("https://w3id.org/ro/terms/workflow-run/context")
    crate.name = f"A run of Kronbench, scale {scale}"
    crate.description = f"Numbers, pictures and verdicts beside five papers, scale {scale}"
    crate.datePublished, crate.license = about["last"], "https://spdx.org/licenses/BSD-3-Clause"
    # The profiles that it follows.
    for place, (name, version) in _PROFILES.items():
        properties = {"@type": "CreativeWork", "name": name, "version": version}
        profile = crate.add(ContextEntity(crate, place, properties))
        crate.root_dataset.append_to("conformsTo", profile)
    # Every file with its kind and size; the workflow is the one that Snakemake reads.
    files = {}
    for name, content in contents.items():
        kind = mimetypes.guess_type(name)[0] or "text/plain"
        properties = {"name": name, "encodingFormat": kind, "contentSize": str(len(content))}
        if name == "Snakefile":
            properties["version"] = str(about.get("revision"))
            crate.add_workflow(None, name, main=True, lang="snakemake", properties=properties)
        else:
            files[name] = crate.add_file(None, name, properties=properties)
    crate.add_file(None, MANIFEST, properties={"name": MANIFEST, "encodingFormat": "text/plain"})
    # The run: it used the records of data, and made the results.
    used = [file for name, file in files.items() if name.endswith("provenance.json")]
    made = [file for name, file in files.items() if name.startswith("results/")]
    run = {"name": crate.name, "startTime": about["first"], "endTime": about["last"]}
    run = crate.add_action(crate.mainEntity, "#run", used, made, run)
    crate.root_dataset["mentions"] = run
    if author:
        crate.creator = run["agent"] = crate.add(Person(crate, "#author", {"name": author}))
    return crate.metadata.generate()
