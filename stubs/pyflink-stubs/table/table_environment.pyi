from scurry.table.table_environment import *
from scurry.common.typeinfo import TypeInformation as TypeInformation
from scurry.datastream.data_stream import DataStream as DataStream
from scurry.datastream.stream_execution_environment import StreamExecutionEnvironment as StreamExecutionEnvironment
from scurry.table.catalog import Catalog as Catalog
from scurry.table.catalog import CatalogDescriptor as CatalogDescriptor
from scurry.table.changelog_mode import ChangelogMode as ChangelogMode
from scurry.table.compiled_plan import CompiledPlan as CompiledPlan
from scurry.table.expression import Expression as Expression
from scurry.table.module import Module as Module
from scurry.table.module import ModuleEntry as ModuleEntry
from scurry.table.plan_reference import PlanReference as PlanReference
from scurry.table.schema import Schema as Schema
from scurry.table.table_descriptor import TableDescriptor as TableDescriptor
from scurry.table.udf import AggregateFunction as AggregateFunction
from scurry.table.udf import TableAggregateFunction as TableAggregateFunction
from scurry.table.udf import udaf as udaf
from scurry.table.udf import udtaf as udtaf
