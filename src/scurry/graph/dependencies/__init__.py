"""Provide workers with Python code and packages: declared, staged on the driver, activated in workers.

    configuration -> Declared -> JobDependencies (staged on this machine) -> WorkerSetup (sent with the job)

Workers on the driver's machine use the staged files; those of a cluster get them from Spark as one zip file.
"""

from __future__ import annotations

from scurry.graph.dependencies.interpreter import check_interpreter, is_this_interpreter
from scurry.graph.dependencies.job import JobDependencies
from scurry.graph.dependencies.setup import WorkerSetup

__all__ = ["JobDependencies", "WorkerSetup", "check_interpreter", "is_this_interpreter"]
