from scurry.datastream.async_retry_predicates import *
