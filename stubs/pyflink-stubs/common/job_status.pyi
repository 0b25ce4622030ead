from scurry.common.job_status import *
