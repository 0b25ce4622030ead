from scurry.datastream.functions import *
from scurry.datastream.state import AggregatingState as AggregatingState
from scurry.datastream.state import AggregatingStateDescriptor as AggregatingStateDescriptor
from scurry.datastream.state import BroadcastState as BroadcastState
from scurry.datastream.state import ListState as ListState
from scurry.datastream.state import ListStateDescriptor as ListStateDescriptor
from scurry.datastream.state import MapState as MapState
from scurry.datastream.state import MapStateDescriptor as MapStateDescriptor
from scurry.datastream.state import ReadOnlyBroadcastState as ReadOnlyBroadcastState
from scurry.datastream.state import ReducingState as ReducingState
from scurry.datastream.state import ReducingStateDescriptor as ReducingStateDescriptor
from scurry.datastream.state import ValueState as ValueState
from scurry.datastream.state import ValueStateDescriptor as ValueStateDescriptor
from scurry.datastream.time_domain import TimeDomain as TimeDomain
from scurry.metrics.metricbase import MetricGroup as MetricGroup
