"""The dynamic Kafka source: topics of clusters that a metadata service names while the job runs."""
