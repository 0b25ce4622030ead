"""Elasticsearch and OpenSearch: bulk requests, searches by slices, documents by id. Plain HTTP, without a client."""
