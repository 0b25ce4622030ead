"""The Python code and packages that workers need besides scurry: declared, staged on the driver, activated in workers.

    configuration -> Declared -> JobDependencies (staged on this machine) -> WorkerSetup (travels with the job)

Workers on the driver's machine use what was staged, those of a cluster get it as one zip file by way of Spark.
"""

from __future__ import annotations

from scurry.dependencies.interpreter import check_interpreter, is_this_interpreter
from scurry.dependencies.job import JobDependencies
from scurry.dependencies.setup import WorkerSetup

__all__ = ["JobDependencies", "WorkerSetup", "check_interpreter", "is_this_interpreter"]
