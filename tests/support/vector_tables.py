"""The tables of the calls of VECTOR_SEARCH that Flink refused when it was recorded; PATH is a directory."""

from __future__ import annotations

TABLES = (
    "CREATE TABLE Q (a INT, b BIGINT, c STRING, d ARRAY<FLOAT>, dd ARRAY<DOUBLE>, ii ARRAY<INT>, "
    "rowtime TIMESTAMP(3), proctime AS PROCTIME(), WATERMARK FOR rowtime AS rowtime - INTERVAL '1' SECOND) "
    "WITH ('connector' = 'filesystem', 'path' = 'PATH/q', 'format' = 'json')",
    "CREATE TABLE V (e INT, f BIGINT, g ARRAY<FLOAT>, gd ARRAY<DOUBLE>) "
    "WITH ('connector' = 'filesystem', 'path' = 'PATH/v', 'format' = 'json')",
)
