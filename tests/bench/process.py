"""CPU seconds and resident memory of processes, from /proc."""

import os
from pathlib import Path

from services.cli.supervisor import Supervisor

_TICK = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """The CPU seconds of the process and its running and reaped children."""
    return _read_own(pid) + sum(cpu_s(child) for child in _children(pid))


def _read_own(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICK


def _children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def resident_mb(pid: int) -> tuple[float, float]:
    """Current and peak resident memory, in MB."""
    status = dict(line.partition(":")[::2] for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(status["VmRSS"].split()[0]) / 1024, int(status["VmHWM"].split()[0]) / 1024


def pids(on: Supervisor) -> dict[str, int]:
    """Every process of the machine by its name."""
    found = {name: process.child.pid for name, process in on.processes.items()}
    assert on.postgres
    assert on.broker
    return {**found, "postgres": on.postgres.pid, "broker": on.broker.pid}


def cpu_by_stage(on: Supervisor) -> dict[str, float]:
    """CPU seconds of every process of the machine since its start."""
    return {name: cpu_s(pid) for name, pid in pids(on).items()}
