"""Simulated runs of jobs: sources, sinks, files, clocks and kills by a seed, in one thread and without waiting."""

from __future__ import annotations

from scurry.testing.simulation.endpoints import Endpoints, FileEndpoints, LogEndpoints, StoreEndpoints
from scurry.testing.simulation.jobs import counts, sessions, timers, windows
from scurry.testing.simulation.parts import SimulatedSink, SimulatedSource
from scurry.testing.simulation.programs import FoundFault, Program, Run
from scurry.testing.simulation.schedules import KINDS, KINDS_OF_STORES, Fault, Schedule
from scurry.testing.simulation.simulator import Simulation

__all__ = [
    "KINDS",
    "KINDS_OF_STORES",
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
    "StoreEndpoints",
    "counts",
    "sessions",
    "timers",
    "windows",
]
