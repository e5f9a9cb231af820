"""Shifts the clock of a process by FAULTS_CLOCK_S seconds; `sitecustomize` loads it at the start."""

import os
import time
from datetime import timedelta

from shared import clock

AHEAD_S = int(os.environ["FAULTS_CLOCK_S"])
_time, _time_ns, _now = time.time, time.time_ns, clock.now

time.time = lambda: _time() + AHEAD_S
time.time_ns = lambda: _time_ns() + AHEAD_S * 1_000_000_000
clock.now = lambda: _now() + timedelta(seconds=AHEAD_S)
