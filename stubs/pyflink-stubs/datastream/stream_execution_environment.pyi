from scurry.datastream.stream_execution_environment import *
from scurry.common.execution_config import ExecutionConfig as ExecutionConfig
from scurry.common.typeinfo import TypeInformation as TypeInformation
from scurry.common.typeinfo import Types as Types
from scurry.datastream.checkpoint_config import CheckpointConfig as CheckpointConfig
from scurry.datastream.checkpointing_mode import CheckpointingMode as CheckpointingMode
from scurry.datastream.connectors.base import Source as Source
from scurry.datastream.execution_mode import RuntimeExecutionMode as RuntimeExecutionMode
from scurry.datastream.functions import SourceFunction as SourceFunction
from scurry.datastream.slot_sharing_group import SlotSharingGroup as SlotSharingGroup
