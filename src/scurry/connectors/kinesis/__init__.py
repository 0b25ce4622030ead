"""Amazon Kinesis: streams of shards, and delivery streams of Firehose."""
