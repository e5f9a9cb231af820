"""Child processes that end when this process ends, however it ends."""

import ctypes
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import IO

from shared.embedded.account import Account

PR_SET_PDEATHSIG = 1
Child = subprocess.Popen[bytes]

_requests: "queue.SimpleQueue[tuple[Callable[[], Child], Future[Child]]]" = queue.SimpleQueue()
_spawner_started = threading.Lock()


def spawn(
    command: Sequence[str | Path],
    *,
    death_signal: signal.Signals,
    env: Mapping[str, str],
    log: IO[bytes],
    account: Account | None = None,
    cwd: str | Path = "/",
    pass_fds: Sequence[int] = (),
    stdin: int = subprocess.DEVNULL,
) -> Child:
    """The started child, in its own session; the kernel sends it `death_signal` when this process dies."""

    def start() -> Child:
        return subprocess.Popen(  # noqa: S603 (the command is ours)
            [str(word) for word in command],
            cwd=cwd,
            env=dict(env),
            stdin=stdin,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=pass_fds,
            preexec_fn=_tied_to_parent(death_signal),
            user=account.uid if account and account.drop else None,
            group=account.gid if account and account.drop else None,
            extra_groups=[] if account and account.drop else None,
        )

    answer: Future[Child] = Future()
    _start_spawner()
    _requests.put((start, answer))
    return answer.result()


def _start_spawner() -> None:
    """One daemon thread does every fork: the parent-death signal follows the forking *thread*, which must survive."""
    if _spawner_started.acquire(blocking=False):
        threading.Thread(target=_serve_requests, name="embedded-spawner", daemon=True).start()


def _serve_requests() -> None:
    while True:
        start, answer = _requests.get()
        try:
            answer.set_result(start())
        except BaseException as error:  # noqa: BLE001 (passed to the caller's thread)
            answer.set_exception(error)


def _tied_to_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    """The child's steps between fork and exec; None if the system has no parent-death signal."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def tie() -> None:
        prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:  # it died before the call above
            os._exit(1)

    return tie
