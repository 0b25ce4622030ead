from scurry.datastream.connectors.rabbitmq import *
