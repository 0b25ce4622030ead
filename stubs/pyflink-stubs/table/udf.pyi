from scurry.table.udf import *
from scurry.metrics.metricbase import MetricGroup as MetricGroup
from scurry.table.expression import Expression as Expression
