"""A finished run as one file that others can keep, check and read.

The zip holds tables, sidecars, pictures, verdicts and page of ``results/<scale>``, what made them
(workflow, configuration, locked versions), sha256 sums, and a description for other tools: a
Workflow Run RO-Crate 0.5 (https://w3id.org/ro/wfrun/workflow/0.5). The description is one flat
list of JSON-LD entities, written here as it stands: the library for it dates a crate by the clock,
and the same folder must give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import reprlib
import stat
import struct
import subprocess
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from kronbench.errors import InputError
from kronbench.files import checked, read_json, replacing
from kronbench.reference.reference import surroundings
from kronbench.reference.verdicts import read_verdicts
from kronbench.resources import checkout_path
from kronbench.settings import read_yaml

LIMIT = 256  # MiB in an archive before compression, unless it is told otherwise
MANIFEST = "manifest-sha256.txt"
CRATE = "ro-crate-metadata.json"
README = "README.md"

# Limits of an archive that is verified: a larger one was not written here, and is not read.
_MOST_FILES, _MOST_BYTES = 100_000, 2**32

# What is kept of a folder of results, and what of the checkout that made it.
_KINDS = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".tex": "application/x-tex",
    ".html": "text/html",
    ".txt": "text/plain",
    ".yaml": "application/yaml",
}
_SOURCES = ("Snakefile", "workflow", "config", "requirements.lock", "LICENSE", "CITATION.cff")
_OTHER_KINDS = {".cff": "application/yaml"}

_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
_CRATE_PROFILES = (
    "https://w3id.org/ro/crate/1.1",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
)
_CONTEXTS = [
    "https://w3id.org/ro/crate/1.1/context",
    "https://w3id.org/ro/terms/workflow-run/context",
]
# What zipfile raises on bytes that are no zip.
_BROKEN = (
    zipfile.BadZipFile,
    RuntimeError,
    EOFError,
    ValueError,
    struct.error,
    zlib.error,
)

_LICENCE = "https://spdx.org/licenses/BSD-3-Clause"
_SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
_RUN = "#run"
_AUTHOR = "#author"


@dataclass(frozen=True)
class Verified:
    """What was found in an archive: one sentence for each file that is not as it was written."""

    files: int
    sha256: str
    complaints: tuple[str, ...]


def archive(
    folder: str | Path, target: str | Path, limit: int = LIMIT, author: str | None = None
) -> str:
    """Write a finished run into one zip file; the same files give the same bytes.

    Order and dates are fixed: every file has the date of the last measurement. Bytes may differ
    between versions of zlib; the sums inside do not.

    Parameters
    ----------
    folder : path
        ``results/<scale>`` of a finished run.
    target : path
        The file to write, whole or not at all.
    limit : int
        MiB before compression. Beyond it the largest files are left out, and named.
    author : str, optional
        Who made the run, for the description.

    Returns
    -------
    str
        What is in it and what was left out, line by line.

    Raises
    ------
    InputError
        The folder is no finished run, a table of it is lost or not as it was measured, or the
        workflow is in no git checkout.
    """
    folder, target = Path(folder), Path(target)
    run = _read(folder) | {"author": author}
    files, left_out = _chosen(folder, run, limit)
    try:
        with replacing(target) as temporary:
            entries = _pack(temporary, run, files, left_out)
        total = _sum_of(target)
    except OSError as error:
        raise InputError(
            f"{error.filename or target} cannot be read or written: {error.strerror}"
        ) from None
    size = target.stat().st_size / 2**20
    lines = [f"{target}: {entries} files, {size:.1f} MiB, sha256 {total}"]
    lines += [f"left out: {reason}" for reason in left_out]
    return "\n".join(lines)


def _pack(target, run, files, left_out):
    """Write the zip and return how many files it has; descriptions and sums come last."""
    date = tuple(int(part) for part in re.findall(r"\d+", run["last"])[:6])
    entries = {}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:

        def write(name, content):
            info = zipfile.ZipInfo(name, date)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix, wherever it is written
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            packed.writestr(info, content)
            entries[name] = (hashlib.sha256(content).hexdigest(), len(content))

        for name in sorted(files):
            write(name, files[name].read_bytes())
        write(README, _readme(run, left_out).encode())
        crate = _crate(run, {name: size for name, (_, size) in entries.items()})
        write(CRATE, (json.dumps(crate, indent=1, ensure_ascii=False) + "\n").encode())
        manifest = "".join(f"{entries[name][0]}  {name}\n" for name in sorted(entries))
        write(MANIFEST, manifest.encode())
    return len(entries)


def verify(path: str | Path) -> Verified:
    """Compare every file of an archive with the manifest in it; nothing is unpacked to disk.

    Raises
    ------
    InputError
        The file cannot be read, is no archive of a run, or is one that harms whoever unpacks it:
        paths that lead out of the folder, links, names given twice, more than 4 GiB.
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as packed:
            infos = {info.filename: info for info in packed.infolist()}
            _refuse_harm(path, packed.infolist())
            expected = _read_manifest(path, packed, infos)
            found = [
                _complaint(packed, name, infos, expected)
                for name in sorted({*expected, *infos} - {MANIFEST})
            ]
        return Verified(len(infos), _sum_of(path), tuple(filter(None, found)))
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except _BROKEN as error:
        raise InputError(f"{path} is no whole zip file: {error}") from None


def _complaint(packed, name, infos, expected):
    if name not in infos:
        return f"{name} is missing"
    if name not in expected:
        return f"{name} is extra: the manifest does not name it"
    try:
        with packed.open(name) as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except _BROKEN as error:
        return f"{name} was changed: it cannot be unpacked ({error})"
    if found != expected[name]:
        return f"{name} was changed: its sha256 is {found}, not {expected[name]}"
    return None


def _refuse_harm(path, infos):
    if len(infos) > _MOST_FILES:
        raise InputError(f"{path} has {len(infos)} files; an archive has at most {_MOST_FILES}")
    size = sum(info.file_size for info in infos)
    if size > _MOST_BYTES:
        raise InputError(
            f"{path} would unpack to {size} bytes; an archive has at most {_MOST_BYTES}"
        )
    seen = set()
    for info in infos:
        name, parts = info.orig_filename, PurePosixPath(info.filename).parts
        if (
            name != info.filename
            or "\\" in name
            or not name.isprintable()
            or not parts
            or parts[0] == "/"
            or ":" in parts[0]
            or ".." in parts
        ):
            raise InputError(f"{path} has a file whose path leads out of its folder: {name!r}")
        if name in seen:
            raise InputError(f"{path} has two files of the name {name}")
        seen.add(name)
        if info.is_dir() or stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            raise InputError(f"{path} has {name}, which is no plain file")
        if info.flag_bits & 1 or info.compress_type not in (
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        ):
            raise InputError(f"{path} has {name} encrypted or packed in an unusual way")


def _read_manifest(path, packed, infos):
    if MANIFEST not in infos:
        raise InputError(f"{path} is no archive of a run: it has no {MANIFEST}")
    if infos[MANIFEST].file_size > _MOST_FILES * 1000:
        raise InputError(f"{path}: {MANIFEST} would unpack to {infos[MANIFEST].file_size} bytes")
    expected = {}
    for line in packed.read(MANIFEST).decode("utf-8", errors="replace").splitlines():
        match = re.fullmatch(r"([0-9a-f]{64})  (.+)", line)
        if not match or not line.isprintable() or match[2] in expected:
            raise InputError(
                f"{path}: {MANIFEST} has a line that is no sum of a file: {reprlib.repr(line)}"
            )
        expected[match[2]] = match[1]
    return expected


def _read(folder):
    """What the files of a run say about the run as a whole."""
    if not (folder / "report" / "claims.csv").exists() or not (folder / "config.yaml").exists():
        raise InputError(
            f"{folder} is no finished run: config.yaml or report/claims.csv is missing; "
            "give results/<scale> after snakemake made its page"
        )
    config = read_yaml(folder / "config.yaml")
    if not isinstance(config, dict) or "scale" not in config:
        raise InputError(f"{folder / 'config.yaml'} holds no settings of a run")
    times = []
    for path in sorted(folder.glob("*/tables/**/*.json")):
        times.append(str(read_json(path, environment=dict)["environment"].get("time")))
        checked(path.with_suffix(".csv"))
    times.sort()
    if not times or not all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", time) for time in times):
        raise InputError(f"{folder} has no sidecars that say when it was measured")
    return {
        "scale": config["scale"],
        "first": times[0],
        "last": times[-1],
        "surroundings": surroundings(folder),
        "verdicts": read_verdicts(folder / "report" / "claims.csv")["verdict"].value_counts(),
        "data": {
            path.parent.name: read_json(path)
            for path in sorted(folder.glob("data/*/provenance.json"))
        },
    }


def _chosen(folder, run, limit):
    """Files by their names in the archive, and sentences on what is not in it."""
    left_out = [
        "predictions: no experiment stores them fold by fold, so that another metric needs a "
        "rerun; each sidecar has its command",
        "data sets: they have their own terms; their sums are in data/*/provenance.json",
        "logs, and files of a kind that no job writes",
    ]
    files = {}
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        known = path.suffix in _KINDS and not any(part.startswith(".") for part in place.parts)
        if known and place.parts[0] != "logs" and path.is_file() and not path.is_symlink():
            files[f"results/{run['scale']}/{place.as_posix()}"] = path
    sizes = {name: path.stat().st_size for name, path in files.items()}
    # The report, the configuration and the sidecars say what the rest was.
    spare = [name for name in files if "/tables/" in name or name.endswith((".pdf", ".png"))]
    spare = [name for name in spare if not name.endswith(".json")]
    for name in sorted(spare, key=lambda name: (-sizes[name], name)):
        if sum(sizes.values()) <= limit * 2**20:
            break
        left_out.append(
            f"{name}: {sizes.pop(name)} bytes, sha256 {_sum_of(files.pop(name))}, "
            f"for the limit of {limit} MiB"
        )
    if sum(sizes.values()) > min(limit * 2**20, _MOST_BYTES // 2):
        raise InputError(
            f"{folder} has {sum(sizes.values()) / 2**20:.0f} MiB without its largest tables and "
            f"pictures, over the limit of {limit} MiB; give a larger one, up to 2048"
        )
    return files | _sources(), left_out


def _sources():
    """What git tracks of the workflow, as it lies there: private files beside it stay private."""
    root = checkout_path()
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--", *_SOURCES], cwd=root, capture_output=True, text=True
        )
    except OSError:  # no git
        listed = None
    names = listed.stdout.split("\0") if listed and not listed.returncode else []
    if missing := [name for name in _SOURCES if not any(_below(name, place) for place in names)]:
        raise InputError(
            f"{root} is no git checkout with {', '.join(missing)}: an archive holds the workflow "
            "that made the run, as far as git tracks it; call kronbench in a clone"
        )
    return {name: root / name for name in sorted(names) if (root / name).is_file()}


def _below(folder, place):
    return PurePosixPath(place).is_relative_to(folder)


def _readme(run, left_out):
    about = run["surroundings"]
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in run["verdicts"].items())
    lines = [
        f"# A run of Kronbench, scale {run['scale']}",
        "",
        f"Measured from {run['first']} to {run['last']}. Verdicts: {verdicts}.",
        "",
        f"- `results/{run['scale']}/report/index.html`: the page, to be read in a browser",
        f"- `results/{run['scale']}/<paper>/`: what each figure and table shows; `tables/`: what "
        "was measured, each table with a sidecar of parameters, data, versions and machine",
        f"- `results/{run['scale']}/config.yaml`: the configuration of the run",
        "- `Snakefile`, `workflow/`, `config/`, `requirements.lock`: what made it, as it lay in "
        "the checkout when the archive was made",
        f"- `{CRATE}`: the same for programs (Workflow Run RO-Crate 0.5)",
        f"- `{MANIFEST}`: sums; `kronbench verify FILE.zip`, or `sha256sum -c {MANIFEST}` after "
        "unpacking",
        "",
        "Surrogate data, which say nothing about the papers: "
        + (_of_source(run, "surrogate") or "none")
        + ".",
        f"Own data, of which no paper speaks: {_of_source(run, 'own') or 'none'}.",
        "",
        "Measured with:",
        "",
        *(f"- {key}: {json.dumps(about[key])}" for key in about if key != "data"),
        "",
        "`+changes` behind a revision: files differed from it, and are not in the archive. "
        "Snakemake's version is that of `requirements.lock`; the run does not record it.",
        "",
        "Left out:",
        "",
        *(f"- {reason}" for reason in left_out),
        "",
        "Cite the software (`CITATION.cff`) and the papers whose items you use.",
        "",
    ]
    return "\n".join(lines)


def _of_source(run, source):
    return ", ".join(name for name, data in run["data"].items() if data["source"] == source)


def _crate(run, sizes):
    """The JSON-LD of the archive; ``sizes`` are those of all files but this and the manifest."""
    scale, names = run["scale"], [*sizes, MANIFEST]
    results = [quote(name) for name in sizes if name.startswith("results/")]
    inputs = [f"results/{scale}/config.yaml", *(f"#data-{quote(name)}" for name in run["data"])]
    machine = {key: run["surroundings"].get(key) for key in ("cpu", "cores", "blas")}
    author = _to(_AUTHOR) if run["author"] else None
    root = _entity(
        "./",
        "Dataset",
        name=f"A run of Kronbench, scale {scale}",
        description=f"Kronbench at scale {scale}: numbers, pictures and verdicts beside five "
        "papers",
        datePublished=run["last"],
        license=_to(_LICENCE),
        conformsTo=_all(_PROFILES),
        mainEntity=_to("Snakefile"),
        mentions=_to(_RUN),
        hasPart=_all(map(quote, names)),
        author=author,
    )
    action = _entity(
        _RUN,
        "CreateAction",
        name=f"Run of Kronbench at scale {scale}",
        description="Begins and ends with the first and the last measurement. "
        + json.dumps(machine),
        instrument=_to("Snakefile"),
        startTime=run["first"],
        endTime=run["last"],
        actionStatus="http://schema.org/CompletedActionStatus",
        object=_all(inputs),
        result=_all(results),
        agent=author,
    )
    graph = [
        _entity(CRATE, "CreativeWork", about=_to("./"), conformsTo=_all(_CRATE_PROFILES)),
        root,
        *(
            _entity(place, "CreativeWork", name=name, version=version)
            for place, (name, version) in _PROFILES.items()
        ),
        _entity(_LICENCE, "CreativeWork", name="BSD-3-Clause", description="BSD 3-Clause License"),
        _entity(
            _SNAKEMAKE,
            "ComputerLanguage",
            name="Snakemake",
            identifier=_to("https://doi.org/10.1093/bioinformatics/bts480"),
            url=_to("https://snakemake.readthedocs.io"),
        ),
        action,
        *(_data_entity(scale, name, data) for name, data in run["data"].items()),
        *(_file_entity(run, name, sizes.get(name)) for name in names),
    ]
    if author:
        graph.append(_entity(_AUTHOR, "Person", name=run["author"]))
    return {"@context": _CONTEXTS, "@graph": graph}


def _data_entity(scale, name, data):
    files = "; ".join(f"{file['path']} sha256 {file['sha256']}" for file in data["files"])
    return _entity(
        f"#data-{quote(name)}",
        "CreativeWork",
        name=data["title"],
        description=f"source: {data['source']}" + (f"; {files}" if files else ""),
        license=data["licence"],
        citation=data["citation"],
        subjectOf=_to(quote(f"results/{scale}/data/{name}/provenance.json")),
    )


def _file_entity(run, name, size):
    kind = (_KINDS | _OTHER_KINDS).get(PurePosixPath(name).suffix, "text/plain")
    plain = {"encodingFormat": kind, "contentSize": None if size is None else str(size)}
    if name != "Snakefile":
        about = _to("./") if name == README else None
        return _entity(quote(name), "File", name=name, **plain, about=about)
    revisions = run["surroundings"].get("revision")
    return _entity(
        name,
        ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        name="Kronbench",
        **plain,
        description="As it lay in the checkout when the archive was made; the version is what the "
        "measurements record",
        conformsTo=_to("https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"),
        programmingLanguage=_to(_SNAKEMAKE),
        license=_to(_LICENCE),
        version=revisions if isinstance(revisions, str) else ", ".join(map(str, revisions or [])),
    )


def _entity(place, kind, **properties):
    known = {key: value for key, value in properties.items() if value is not None}
    return {"@id": place, "@type": kind, **known}


def _to(place):
    return {"@id": place}


def _all(places):
    return [_to(place) for place in places]


def _sum_of(path):
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
