from scurry.common.job_id import *
