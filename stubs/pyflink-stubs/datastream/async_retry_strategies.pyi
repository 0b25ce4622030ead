from scurry.datastream.async_retry_strategies import *
from scurry.datastream.functions import AsyncRetryPredicate as AsyncRetryPredicate
from scurry.datastream.functions import AsyncRetryStrategy as AsyncRetryStrategy
