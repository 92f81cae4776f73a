"""A Slurm of two nodes on this machine, in a folder and on ports of its own."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.waiting import run_to_end, wait_until

NODES = ("n1", "n2")
TOOLS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol")
# `config_overrides`: a node may promise more processors than this machine has.
CONFIGURATION = """\
ClusterName=capmap
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SchedulerParameters=sched_min_interval=1000,sched_interval=2,bf_interval=2
ReturnToService=2
MinJobAge=3600
SlurmdTimeout=5
KillWait=1
MpiDefault=none
NodeName=DEFAULT CPUs={processors} RealMemory=6000 Weight=1
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={n1}
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={n2}
PartitionName=main Nodes=n1,n2 Default=YES DefaultTime=10 State=UP LLN=YES
"""


@dataclass
class Cluster:
    """A running Slurm; `stop` ends what `start` began, and nothing else."""

    folder: Path
    processors: int = 4
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a user of this Slurm."""
        return {
            **os.environ,
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }

    def ask(self, *command: str) -> str:
        """What a command of Slurm prints."""
        done = run_to_end(command, env=self.environment)
        done.check_returncode()
        return done.stdout

    def list_jobs(self) -> dict[str, tuple[str, str]]:
        """State and node of every job that the controller still knows, by its number."""
        lines = self.ask("squeue", "--states=all", "--noheader", "--format=%i|%T|%N").splitlines()
        return {job: (state, node) for job, state, node in (line.split("|") for line in lines)}

    def list_running(self) -> dict[str, str]:
        """The node of every job that runs."""
        return {job: node for job, (state, node) in self.list_jobs().items() if state == "RUNNING"}

    def list_states(self) -> list[str]:
        """State of each node, such as ``idle``."""
        return self.ask("sinfo", "--Node", "--noheader", "--format=%T").split()

    def start(self) -> None:
        """Start munge, the controller and the nodes, and wait until both nodes can work."""
        for name in ("state", "bin", *NODES):
            (self.folder / name).mkdir(parents=True)
        self._write_files()
        self._launch(
            "munged",
            "--foreground",
            "--force",
            f"--key-file={self.folder}/munge.key",
            f"--seed-file={self.folder}/munge.seed",
            f"--socket={self.folder}/munge.socket",
            f"--log-file={self.folder}/munged.log",
            f"--pid-file={self.folder}/munged.pid",
        )
        wait_until((self.folder / "munge.socket").exists, "munge")
        self._launch("slurmctld", "-D", "-c")
        for node in NODES:
            self.start_node(node)
        wait_until(lambda: self.list_states() == ["idle", "idle"], "both nodes", pause=0.2)

    def start_node(self, node: str) -> None:
        """Start the daemon of a node."""
        self._launch("slurmd", "-D", "-N", node, name=node)

    def kill_node(self, node: str) -> None:
        """End the daemon of a node without notice, and what it started, as a power cut does."""
        daemon = self.daemons.pop(node)
        victims = [daemon.pid, *self._list_steps(node)]
        for pid in victims + list_descendants(victims):
            kill(pid)
        daemon.wait()

    def stop(self) -> None:
        """End all jobs, then all daemons, the last one first."""
        run_to_end(["scancel", "--user=root"], env=self.environment)
        steps = [pid for node in NODES for pid in self._list_steps(node)]
        for pid in steps + list_descendants(steps):
            kill(pid)
        for daemon in reversed(self.daemons.values()):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons.clear()

    def _launch(self, *command: str, name: str = "") -> None:
        name = name or command[0]
        with open(self.folder / f"{name}.out", "ab") as output:
            self.daemons[name] = subprocess.Popen(
                command, env=self.environment, stdout=output, stderr=output, cwd=self.folder
            )

    def _write_files(self) -> None:
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        ports = dict(zip(("controller", *NODES), find_ports(3), strict=True))
        host = socket.gethostname().split(".")[0]
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(host=host, folder=self.folder, processors=self.processors, **ports)
        )
        # The plugin takes SLURM_CONF from the environment of srun, which then looks into /etc.
        wrapper = self.folder / "bin/srun"
        real = shutil.which("srun")
        wrapper.write_text(
            f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {real} "$@"\n', encoding="utf-8"
        )
        wrapper.chmod(0o755)

    def _list_steps(self, node: str) -> list[int]:
        """The processes of Slurm that watch the jobs of a node; they outlive its daemon."""
        log = self.folder / f"{node}.log"
        return [pid for pid in list_processes("slurmstepd: [") if log in list_open_files(pid)]


def list_processes(command: str) -> list[int]:
    """The processes whose command line starts so."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (folder / "cmdline").read_bytes().startswith(command.encode()):
                found.append(int(folder.name))
    return found


def list_open_files(pid: int) -> set[Path]:
    """The files that a process holds open."""
    found = set()
    with suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found.add(link.readlink())
    return found


def list_descendants(parents: list[int]) -> list[int]:
    """The children of processes, and theirs."""
    children = []
    for pid in parents:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            with suppress(OSError):
                children += [int(child) for child in task.read_text().split()]
    return children + list_descendants(children) if children else []


def kill(pid: int) -> None:
    """End a process at once, if it is still there."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def find_ports(count: int) -> list[int]:
    """Ports that are free now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def find_obstacle() -> str:
    """Why no Slurm can be started here; empty where it can."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"There is no {', '.join(missing)}: apt-get install slurm-wlm munge"
    return "" if os.geteuid() == 0 else "The daemons of Slurm need root."


@contextmanager
def run_cluster(folder: Path, processors: int = 4) -> Iterator[Cluster]:
    """A Slurm, of so many processors per node, that is stopped at the end, whatever happens."""
    cluster = Cluster(folder, processors)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
