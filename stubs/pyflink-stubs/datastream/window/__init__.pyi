from scurry.datastream.window import *
from scurry.common.time import Time as Time
from scurry.common.serializer import TypeSerializer as TypeSerializer
from scurry.common.typeinfo import Types as Types
from scurry.datastream.functions import ReduceFunction as ReduceFunction
from scurry.datastream.functions import RuntimeContext as RuntimeContext
from scurry.datastream.output_tag import OutputTag as OutputTag
from scurry.datastream.state import ReducingState as ReducingState
from scurry.datastream.state import ReducingStateDescriptor as ReducingStateDescriptor
from scurry.datastream.state import State as State
from scurry.datastream.state import StateDescriptor as StateDescriptor
from scurry.datastream.state import ValueStateDescriptor as ValueStateDescriptor
from scurry.metrics.metricbase import MetricGroup as MetricGroup
