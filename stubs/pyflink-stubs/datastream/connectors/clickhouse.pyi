from scurry.datastream.connectors.clickhouse import *
