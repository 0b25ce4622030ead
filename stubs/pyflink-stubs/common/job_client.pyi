from scurry.common.job_client import *
