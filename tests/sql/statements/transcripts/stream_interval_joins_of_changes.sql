-- rows: in any order
-- Joins by time of rows that change are refused; a MAX of times is no time.
-- file o/rows.json
--|{"before":null,"after":{"id":1,"k":"a","ts":"2024-01-01 00:00:01"},"op":"c"}
--|{"before":null,"after":{"id":2,"k":"b","ts":"2024-01-01 00:00:05"},"op":"c"}
--|{"before":{"id":1,"k":"a","ts":"2024-01-01 00:00:01"},"after":{"id":1,"k":"c","ts":"2024-01-01 00:00:07"},"op":"u"}
--|{"before":{"id":2,"k":"b","ts":"2024-01-01 00:00:05"},"after":null,"op":"d"}
-- file u/rows.csv
--|1,a,2024-01-01 00:00:01
--|2,b,2024-01-01 00:00:05
CREATE TABLE o (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'format' = 'debezium-json', 'path' = '{tmp}/o');
CREATE TABLE u (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp}/u');
SELECT o.id, o.k, u.k FROM o JOIN u ON o.id = u.id AND o.ts BETWEEN u.ts - INTERVAL '10' SECOND AND u.ts + INTERVAL '10' SECOND;
SELECT o.id, o.k, u.k FROM o LEFT JOIN u ON o.id = u.id AND o.ts BETWEEN u.ts - INTERVAL '10' SECOND AND u.ts + INTERVAL '10' SECOND;
SELECT o.id, o.k, u.k FROM u JOIN o ON o.id = u.id AND o.ts BETWEEN u.ts - INTERVAL '10' SECOND AND u.ts + INTERVAL '10' SECOND;
SELECT o.id, o.k, u.k FROM u JOIN o ON o.id = u.id AND o.ts > u.ts - INTERVAL '10' SECOND;
SELECT o.id, o.k, u.k FROM u JOIN o ON o.id = u.id AND o.ts = u.ts;
SELECT o.id, o.k, u.k FROM u JOIN (SELECT id, LAST_VALUE(k) AS k, MAX(ts) AS ts FROM o GROUP BY id) o ON o.id = u.id AND o.ts = u.ts;
CREATE VIEW dd AS SELECT id, k, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) AS rn FROM u) WHERE rn = 1;
SELECT u.id FROM u WHERE EXISTS (SELECT 1 FROM o WHERE o.id = u.id AND o.ts BETWEEN u.ts - INTERVAL '10' SECOND AND u.ts + INTERVAL '10' SECOND);
SELECT window_start, window_end, COUNT(*) AS n, SUM(id) AS s, MAX(k) AS m, AVG(id) AS a FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
