-- rows: in any order
-- Behind a regular join a time attribute is a timestamp as others.
-- file o/rows.csv
--|1,a,2024-01-01 00:00:01
--|2,b,2024-01-01 00:00:05
--|3,a,2024-01-01 00:00:07
--|1,a,2024-01-01 00:00:09
CREATE TABLE o (id INT, k STRING, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp}/o');
CREATE TABLE b (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp}/o');
CREATE VIEW joined AS SELECT a.id, a.k, a.ts, a.p FROM o a JOIN b ON a.id = b.id;
CREATE VIEW semi AS SELECT id, k, ts, p FROM o WHERE id IN (SELECT id FROM b);
CREATE VIEW bounded AS SELECT a.id, a.k, a.ts FROM o a JOIN b ON a.id = b.id AND a.ts BETWEEN b.ts - INTERVAL '1' MINUTE AND b.ts;
SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE joined, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT COUNT(*) FROM joined GROUP BY TUMBLE(ts, INTERVAL '5' SECOND);
SELECT id, ts FROM joined ORDER BY ts;
SELECT id FROM joined ORDER BY p;
SELECT id, COUNT(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM joined;
SELECT id, COUNT(*) OVER (PARTITION BY k ORDER BY p ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM joined;
SELECT * FROM joined MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x ONE ROW PER MATCH PATTERN (A) DEFINE A AS A.id > 0);
SELECT x.id, y.id FROM joined x JOIN b y ON x.id = y.id AND x.ts BETWEEN y.ts - INTERVAL '1' MINUTE AND y.ts;
SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE semi, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT id, ts FROM semi ORDER BY ts;
SELECT id, COUNT(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM semi;
SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE bounded, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT id, ts FROM bounded ORDER BY ts;
SELECT id, SUM(id) OVER (PARTITION BY k ORDER BY ts) FROM bounded;
SELECT * FROM bounded MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x ONE ROW PER MATCH PATTERN (A) DEFINE A AS A.id > 0);
SELECT x.id, y.id FROM bounded x JOIN b y ON x.id = y.id AND x.ts BETWEEN y.ts - INTERVAL '1' MINUTE AND y.ts;
