"""Simulated runs of jobs: sources, sinks, files, clocks and kills by a seed, in one thread and without waiting."""

from __future__ import annotations

from scurry.testing.simulation.endpoints import Endpoints, FileEndpoints, LogEndpoints
from scurry.testing.simulation.jobs import counts, sessions, timers, windows
from scurry.testing.simulation.parts import SimulatedSink, SimulatedSource
from scurry.testing.simulation.programs import FoundFault, Program, Run
from scurry.testing.simulation.schedules import KINDS, Fault, Schedule
from scurry.testing.simulation.simulator import Simulation

__all__ = [
    "KINDS",
    "Endpoints",
    "Fault",
    "FileEndpoints",
    "FoundFault",
    "LogEndpoints",
    "Program",
    "Run",
    "Schedule",
    "SimulatedSink",
    "SimulatedSource",
    "Simulation",
    "counts",
    "sessions",
    "timers",
    "windows",
]
