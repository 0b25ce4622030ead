-- rows: in any order
-- Aggregates of windows over rows that change.
-- file c/changes
--|{"before":null,"after":{"id":1,"k":"a","v":3,"ts":"2024-01-01 00:00:01"},"op":"c"}
--|{"before":null,"after":{"id":2,"k":"a","v":5,"ts":"2024-01-01 00:00:08"},"op":"c"}
--|{"before":null,"after":{"id":3,"k":"b","v":7,"ts":"2024-01-01 00:00:05"},"op":"c"}
--|{"before":{"id":1,"k":"a","v":3,"ts":"2024-01-01 00:00:01"},"after":{"id":1,"k":"a","v":4,"ts":"2024-01-01 00:00:01"},"op":"u"}
--|{"before":null,"after":{"id":4,"k":"b","v":null,"ts":"2024-01-01 00:00:24"},"op":"c"}
--|{"before":null,"after":{"id":5,"k":null,"v":1,"ts":"2024-01-01 00:00:28"},"op":"c"}
--|{"before":{"id":3,"k":"b","v":7,"ts":"2024-01-01 00:00:05"},"after":{"id":3,"k":"b","v":8,"ts":"2024-01-01 00:00:33"},"op":"u"}
--|{"before":null,"after":{"id":6,"k":"c","v":2,"ts":"2024-01-01 00:00:40"},"op":"c"}
--|{"before":{"id":6,"k":"c","v":2,"ts":"2024-01-01 00:00:40"},"after":null,"op":"d"}
--|{"before":null,"after":{"id":7,"k":"c","v":9,"ts":"2024-01-01 00:00:45"},"op":"c"}
--|{"before":null,"after":{"id":8,"k":"a","v":5,"ts":"2024-01-01 00:00:09"},"op":"c"}
--|{"before":{"id":2,"k":"a","v":5,"ts":"2024-01-01 00:00:08"},"after":null,"op":"d"}
--|{"before":null,"after":{"id":9,"k":"d","v":6,"ts":"2024-01-01 00:01:40"},"op":"c"}
--|{"before":{"id":9,"k":"d","v":6,"ts":"2024-01-01 00:01:40"},"after":null,"op":"d"}
--|{"before":null,"after":{"id":10,"k":"e","v":1,"ts":"2024-01-01 00:02:01"},"op":"c"}
--|{"before":null,"after":{"id":11,"k":"e","v":2,"ts":"2024-01-01 00:02:02"},"op":"c"}
--|{"before":null,"after":{"id":12,"k":"e","v":1,"ts":"2024-01-01 00:02:03"},"op":"c"}
--|{"before":{"id":12,"k":"e","v":1,"ts":"2024-01-01 00:02:03"},"after":null,"op":"d"}
-- file o/rows
--|{"id":1,"k":"a","v":10,"ts":"2024-01-01 00:00:01"}
--|{"id":2,"k":"b","v":20,"ts":"2024-01-01 00:00:05"}
--|{"id":3,"k":"a","v":30,"ts":"2024-01-01 00:00:13"}
--|{"id":4,"k":"c","v":5,"ts":"2024-01-01 00:01:10"}
--|{"id":5,"k":"b","v":25,"ts":"2024-01-01 00:01:20"}
--|{"id":6,"k":"a","v":12,"ts":"2024-01-01 00:02:00"}

CREATE TABLE c (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{tmp}/c', 'format' = 'debezium-json');

SELECT k, window_start, COUNT(*), COUNT(v), SUM(v), AVG(v), MIN(v), MAX(v), COUNT(DISTINCT v)
FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;

SELECT window_end, COUNT(*), SUM(v), SUM(DISTINCT v)
FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '20' SECOND)) GROUP BY window_start, window_end;

SELECT k, window_start, window_time, COUNT(*), MIN(v), LISTAGG(CAST(id AS STRING))
FROM TABLE(HOP(TABLE c, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) GROUP BY k, window_start, window_end, window_time;

SELECT window_start, window_end, COUNT(*), MAX(v)
FROM TABLE(CUMULATE(TABLE c, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '40' SECOND)) GROUP BY window_start, window_end;

SELECT k, window_start, window_end, COUNT(*), SUM(v)
FROM TABLE(SESSION(TABLE c PARTITION BY k, DESCRIPTOR(ts), INTERVAL '6' SECOND)) GROUP BY k, window_start, window_end;

SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND), COUNT(*), SUM(v), MAX(v), FIRST_VALUE(v), LAST_VALUE(v)
FROM c GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);

SELECT k, HOP_END(ts, INTERVAL '10' SECOND, INTERVAL '20' SECOND), COUNT(*), MIN(v)
FROM c GROUP BY k, HOP(ts, INTERVAL '10' SECOND, INTERVAL '20' SECOND);

SELECT k, SESSION_START(ts, INTERVAL '6' SECOND), SESSION_END(ts, INTERVAL '6' SECOND), COUNT(*), SUM(v)
FROM c GROUP BY k, SESSION(ts, INTERVAL '6' SECOND);

SELECT k, v, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, GROUPING SETS ((k), (v), ());

SELECT window_start, COUNT(*) FILTER (WHERE v > 4), SUM(v) FILTER (WHERE k = 'a')
FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;

SELECT window_start, SUM(n) FROM (
  SELECT k, window_start, window_end, window_time, COUNT(*) AS n
  FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end, window_time)
GROUP BY window_start, window_end;

CREATE TABLE o (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{tmp}/o', 'format' = 'json');

CREATE VIEW newest AS
SELECT id, k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM o) WHERE rn = 1;

SELECT window_start, COUNT(*), SUM(v)
FROM TABLE(TUMBLE(TABLE newest, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;

SELECT window_start, window_end, k, SUM(v)
FROM TABLE(HOP(TABLE newest, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, k;

SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE), COUNT(*) FROM newest GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE);

SELECT SESSION_START(ts, INTERVAL '30' SECOND), SESSION_END(ts, INTERVAL '30' SECOND), COUNT(*), SUM(v)
FROM newest GROUP BY SESSION(ts, INTERVAL '30' SECOND);

SELECT window_start, window_end, COUNT(*), SUM(v)
FROM TABLE(SESSION(TABLE newest, DESCRIPTOR(ts), INTERVAL '30' SECOND)) GROUP BY window_start, window_end;
