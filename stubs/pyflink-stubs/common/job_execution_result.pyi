from scurry.common.job_execution_result import *
