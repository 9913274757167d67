"""A SLURM of one node in a private folder: every daemon on loopback, stopped at the end."""

import contextlib
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "sinfo", "munged")
CPUS = 4
MEMORY_MB = 8000
# Job steps look for their settings here and nowhere else.
SETTINGS = Path("/etc/slurm/slurm.conf")

_CONF = """\
ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SrunPortRange={ports[2]}-{last_port}
SlurmUser=root
SlurmdUser=root
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={home}/munge.socket
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=3600
KillWait=5
InactiveLimit=0
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cpus} RealMemory={memory}
PartitionName=main Nodes=n1 Default=YES MaxTime=INFINITE DefaultTime=60 DefMemPerCPU=500 State=UP
"""


def why_not():
    """What is missing for a private SLURM, in words; None where nothing is."""
    missing = [name for name in PROGRAMS if not _program(name)]
    if missing:
        packages = "slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge"
        return f"{', '.join(missing)} missing: apt install --no-install-recommends {packages}"
    if os.geteuid() != 0:
        return "the daemons of a private SLURM are started by root alone"
    if SETTINGS.exists():
        return f"{SETTINGS} is there: this machine has a SLURM of its own"
    return None


@contextlib.contextmanager
def private_slurm(home):
    """Start the daemons below ``home`` and stop them, with all jobs, at the end."""
    home = Path(home)
    ports = _free_ports(3)
    for name in ("state", "spool"):
        (home / name).mkdir(parents=True)
    home.chmod(0o755)
    host = subprocess.run(["hostname", "-s"], capture_output=True, text=True).stdout.strip()
    conf = home / "slurm.conf"
    conf.write_text(
        _CONF.format(
            host=host,
            home=home,
            ports=ports,
            last_port=ports[2] + 200,
            cpus=CPUS,
            memory=MEMORY_MB,
        )
    )
    key = home / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o400)
    made = not SETTINGS.parent.exists()
    SETTINGS.parent.mkdir(exist_ok=True)
    SETTINGS.unlink(missing_ok=True)  # left by a test that was killed: a link to nothing
    SETTINGS.symlink_to(conf)
    try:
        _start(
            "munged",
            "--force",
            f"--key-file={key}",
            f"--socket={home}/munge.socket",
            f"--pid-file={home}/munged.pid",
            f"--log-file={home}/munged.log",
            f"--seed-file={home}/munged.seed",
        )
        _start("slurmctld", "-f", conf)
        _start("slurmd", "-f", conf, "-N", "n1")
        _wait(lambda: _said("sinfo", "-h", "-N", "-o", "%T") == "idle", 60, home)
        yield
    finally:
        try:
            if (home / "slurmctld.pid").exists():
                _cancel_all()
        finally:
            _stop(home)
            SETTINGS.unlink(missing_ok=True)
            if made:
                SETTINGS.parent.rmdir()


def jobs():
    """Every job that the controller has seen: the fields that ``scontrol show job`` names."""
    command = ["scontrol", "--oneliner", "show", "job"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    # A value ends where the next name begins; some hold blanks.
    field = re.compile(r"(\S+?)=(.*?)(?=\s+[A-Z]\S*?=|\s*$)")
    return [dict(field.findall(line)) for line in shown.stdout.splitlines() if "JobId=" in line]


def _cancel_all():
    """Their steps end with them, before the daemon that would be asked for it."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        states = {job["JobId"]: job["JobState"] for job in jobs()}
        if not {"RUNNING", "PENDING", "COMPLETING"} & set(states.values()):
            return
        for number, state in states.items():
            if state in ("RUNNING", "PENDING"):
                subprocess.run(["scancel", number], capture_output=True)
        time.sleep(0.5)


def _start(name, *arguments):
    done = subprocess.run([_program(name), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"


def _stop(home):
    """End the daemons by their own pid files, and wait until they have gone."""
    for name in ("slurmd", "slurmctld", "munged"):
        file = home / f"{name}.pid"
        if not file.exists():
            continue
        pid = int(file.read_text())
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
            for _ in range(100):
                time.sleep(0.1)
                os.kill(pid, 0)
            os.kill(pid, signal.SIGKILL)


def _wait(done, seconds, home):
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            logs = [f.read_text(errors="replace")[-1500:] for f in sorted(home.glob("*.log"))]
            raise AssertionError("SLURM did not come up:\n" + "\n".join(logs))
        time.sleep(0.2)


def _said(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout.strip()


def _program(name):
    # Daemons lie where only root looks.
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
