-- rows: in any order
-- Windows from which more rows are taken back than have come.
-- file o/rows.json
--|{"before":{"id":2,"k":"b","ts":"2024-01-01 00:00:05"},"after":null,"op":"d"}
--|{"before":null,"after":{"id":1,"k":"a","ts":"2024-01-01 00:00:11"},"op":"c"}
--|{"before":{"id":1,"k":"a","ts":"2024-01-01 00:00:11"},"after":null,"op":"d"}
--|{"before":null,"after":{"id":3,"k":"c","ts":"2024-01-01 00:00:21"},"op":"c"}
--|{"before":{"id":4,"k":"d","ts":"2024-01-01 00:00:21"},"after":null,"op":"d"}
CREATE TABLE o (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'format' = 'debezium-json', 'path' = '{tmp}/o');
SELECT window_start, k, COUNT(*) AS n, SUM(id) AS s FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, k;
SELECT window_start, window_end, k, COUNT(*) AS n, SUM(id) AS s FROM TABLE(HOP(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end, k;
SELECT window_start, window_end, k, COUNT(*) AS n, SUM(id) AS s FROM TABLE(CUMULATE(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end, k;
SELECT window_start, window_end, k, COUNT(*) AS n, SUM(id) AS s FROM TABLE(SESSION(TABLE o PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, k;
SELECT window_start, window_end, COUNT(*) AS n, SUM(id) AS s FROM TABLE(SESSION(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT TUMBLE_START(ts, INTERVAL '5' SECOND) AS w, COUNT(*) AS n, SUM(id) AS s FROM o GROUP BY TUMBLE(ts, INTERVAL '5' SECOND);
SELECT HOP_START(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND) AS w, COUNT(*) AS n, SUM(id) AS s FROM o GROUP BY HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND);
SELECT SESSION_START(ts, INTERVAL '5' SECOND) AS w, k, COUNT(*) AS n, SUM(id) AS s FROM o GROUP BY SESSION(ts, INTERVAL '5' SECOND), k;
SELECT window_start, SUM(id) AS s FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, MAX(id) AS s FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT k, COUNT(*) AS n, SUM(id) AS s FROM o GROUP BY k;
SELECT COUNT(*) AS n, SUM(id) AS s FROM o;
SELECT DISTINCT k FROM o;
SELECT window_start, COUNT(DISTINCT id) AS s FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, window_end FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
