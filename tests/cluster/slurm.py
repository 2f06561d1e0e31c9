"""A Slurm of three nodes on loopback, for tests: in a temporary folder, and gone with it."""

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

import psutil

from tests.cluster import node

NODES = ("n1", "n2", "n3")
ETC = Path("/etc/slurm")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "setpriv")
PREFIX, CONTROLLER = "isdp-slurm-", "slurmctld.pid"
# a job is put back when its node has not answered for SlurmdTimeout, and waits for cred_expire
CONFIG = """\
ClusterName=isdp
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={base}/munge.socket,cred_expire=30
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort={port}
StateSaveLocation={base}
SlurmdSpoolDir={base}/%n
SlurmctldPidFile={base}/{controller}
SlurmdPidFile={base}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_min_interval=0
SlurmdParameters=config_overrides
MpiDefault=none
MinJobAge=600
ReturnToService=2
SlurmdTimeout=10
"""
NODE = (
    "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=16000\n"
)
PARTITION = "PartitionName=main Nodes={names} Default=YES State=UP\n"


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
    if link.exists() and not left_by_a_killed_test(link):
        raise CannotStart(f"this machine has a Slurm of its own ({link})")
    if not os.access(ETC, os.W_OK):
        raise CannotStart(f"{ETC} cannot be written to")
    link.unlink(missing_ok=True)
    return link


def left_by_a_killed_test(link):
    if not link.is_symlink() or PREFIX not in os.readlink(link):
        return False
    file = Path(os.readlink(link)).parent / CONTROLLER
    return not (file.is_file() and psutil.pid_exists(int(file.read_text())))


class Slurm:
    """munged, slurmctld and a slurmd a node, as children of this process."""

    def __init__(self, base: Path):
        self.base, self.daemons = base, {}
        host = socket.gethostname().split(".")[0]
        port, *ports = free_ports(1 + len(NODES))
        config = CONFIG.format(base=base, host=host, port=port, controller=CONTROLLER)
        for name, own in zip(NODES, ports, strict=True):
            (base / name).mkdir()
            config += NODE.format(name=name, host=host, port=own)
        config += PARTITION.format(names=",".join(NODES))
        (base / "slurm.conf").write_text(config, encoding="utf-8")
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
        self.daemon("munged", "munged", "--foreground", "--force", *options)
        self.wait_for((self.base / "munge.socket").exists)
        self.daemon("slurmctld", "slurmctld", "-D", "-c", "-f", config)
        for name in NODES:
            slurmd = ["slurmd", "-D", "-c", "-N", name, "-f", config]
            self.daemon(name, sys.executable, node.__file__, *slurmd)
        states = ("sinfo", "--noheader", "--Node", "--format=%t")
        self.wait_for(lambda: self.output(*states).split() == ["idle"] * len(NODES))

    def daemon(self, name, *command):
        # it ends with this process, even where that is killed
        with open(self.base / f"{name}.out", "w") as file:
            self.daemons[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *command],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_for(self, condition):
        until = time.monotonic() + 30
        while not condition():
            for name, process in self.daemons.items():
                if process.poll() is not None or time.monotonic() > until:
                    words = (self.base / f"{name}.out").read_text()[-500:]
                    raise CannotStart(f"Slurm does not start; the last words of {name}: {words}")
            time.sleep(0.1)

    def nodes(self):
        """Names of those that are there."""
        return [name for name in NODES if name in self.daemons]

    def lose(self, name):
        """Have a node die at once, with all that runs on it."""
        node.kill_descendants(self.daemons[name].pid)
        self.daemons.pop(name).wait(timeout=10)

    def stop(self):
        for process in reversed(self.daemons.values()):
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                node.kill_descendants(process.pid)
                process.kill()
                process.wait()

    def jobs(self):
        """All jobs, oldest first: what Slurm knows of each."""
        lines = self.output("scontrol", "--oneliner", "show", "job").splitlines()
        found = [dict(re.findall(r"(\w+)=(\S*)", line)) for line in lines]
        # newer ones tell what was asked for and what was given
        jobs = [{"TRES": job.get("ReqTRES")} | job for job in found if "JobId" in job]
        return sorted(jobs, key=lambda job: int(job["JobId"]))


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
