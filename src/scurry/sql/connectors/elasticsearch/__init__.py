"""Tables of Elasticsearch and OpenSearch."""
