"""A Slurm of one node on loopback, for a test: all of it in a temporary folder and gone with it."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ETC = Path("/etc/slurm")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "setpriv")
PREFIX = "isdp-slurm-"
CONFIG = """\
ClusterName=isdp
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={base}/munge.socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={base}
SlurmdSpoolDir={base}/spool
SlurmctldPidFile={base}/slurmctld.pid
SlurmdPidFile={base}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={base}/finished.txt
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_min_interval=0
SlurmdParameters=config_overrides
MpiDefault=none
MinJobAge=600
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES State=UP
"""


class CannotStart(Exception):
    """Why there is no Slurm to be had here."""


def free_ports(number):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def claim_config():
    """Where the cluster's config goes; a Slurm that is set up here already is left alone."""
    if sys.platform != "linux":
        raise CannotStart("Slurm is for Linux")
    if os.geteuid() != 0:
        raise CannotStart("starting a Slurm of one's own needs root")
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        raise CannotStart(f"Slurm is not installed (no {', '.join(missing)})")
    link = ETC / "slurm.conf"
    left_by_a_killed_test = link.is_symlink() and PREFIX in os.readlink(link)
    if link.exists() and not left_by_a_killed_test:
        raise CannotStart(f"this machine has a Slurm of its own ({link})")
    if not os.access(ETC, os.W_OK):
        raise CannotStart(f"{ETC} cannot be written to")
    link.unlink(missing_ok=True)
    return link


class Slurm:
    """munged, slurmctld and slurmd as children of this process."""

    def __init__(self, base: Path):
        self.base, self.daemons = base, []
        host = socket.gethostname().split(".")[0]
        (base / "slurm.conf").write_text(
            CONFIG.format(base=base, host=host, ports=free_ports(2)), encoding="utf-8"
        )
        # the way to do without cgroups has changed
        version = tuple(map(int, re.findall(r"\d+", self.output("slurmd", "-V"))[:2]))
        plugin = "disabled" if version >= (23, 2) else "autodetect\nCgroupAutomount=no"
        (base / "cgroup.conf").write_text(f"CgroupPlugin={plugin}\n")
        key = base / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)

    @staticmethod
    def output(*command):
        return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout

    def start(self):
        files = {
            "key-file": "munge.key",
            "socket": "munge.socket",
            "pid-file": "munged.pid",
            "log-file": "munged.log",
            "seed-file": "munge.seed",
        }
        options = [f"--{option}={self.base / name}" for option, name in files.items()]
        config = str(self.base / "slurm.conf")
        self.daemon("munged", "--foreground", "--force", *options)
        self.wait_for((self.base / "munge.socket").exists)
        self.daemon("slurmctld", "-D", "-c", "-f", config)
        self.daemon("slurmd", "-D", "-c", "-f", config)
        self.wait_for(lambda: "idle" in self.output("sinfo", "--noheader", "--format=%t"))

    def daemon(self, *command):
        # it ends with this process, even where that is killed
        with open(self.base / f"{command[0]}.out", "w") as file:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *command],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.daemons.append((command[0], process))

    def wait_for(self, condition):
        until = time.monotonic() + 20
        while not condition():
            for name, process in self.daemons:
                if process.poll() is not None or time.monotonic() > until:
                    words = (self.base / f"{name}.out").read_text()[-500:]
                    raise CannotStart(f"Slurm does not start; the last words of {name}: {words}")
            time.sleep(0.1)

    def stop(self):
        if len(self.daemons) == 3:
            self.output("scancel", "--user=root")
            until = time.monotonic() + 20
            while self.output("squeue", "--noheader") and time.monotonic() < until:
                time.sleep(0.1)
        for _, process in reversed(self.daemons):
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def jobs(self):
        """Finished jobs, oldest first: what Slurm itself wrote down of each."""
        file = self.base / "finished.txt"
        lines = file.read_text().splitlines() if file.exists() else []
        return [dict(re.findall(r"(\w+)=(\S*)", line)) for line in lines]


@contextlib.contextmanager
def running_slurm():
    link = claim_config()
    # not pytest's folder: the path of a socket must be short
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
        slurm = Slurm(Path(folder))
        link.symlink_to(slurm.base / "slurm.conf")
        try:
            slurm.start()
            yield slurm
        finally:
            slurm.stop()
            link.unlink()
