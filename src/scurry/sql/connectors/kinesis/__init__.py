"""Tables of streams of Kinesis, and of delivery streams of Firehose."""
