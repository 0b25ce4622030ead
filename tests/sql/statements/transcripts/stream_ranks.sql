-- set parallelism.default=1
-- rows: in any order
-- file o/part.json
--|{"id": 1, "k": "a", "v": 10, "p": 1.50, "f": true, "ts": "2024-01-01 00:00:01.000"}
--|{"id": 2, "k": "b", "v": 20, "p": 2.25, "f": false, "ts": "2024-01-01 00:00:05.000"}
--|{"id": 3, "k": "a", "v": 30, "p": null, "f": true, "ts": "2024-01-01 00:00:03.000"}
--|{"id": 4, "k": null, "v": 5, "p": 9.99, "f": null, "ts": "2024-01-01 00:01:10.000"}
--|{"id": 5, "k": "b", "v": null, "p": 0.75, "f": true, "ts": "2024-01-01 00:01:20.000"}
--|{"id": 6, "k": "a", "v": 10, "p": 1.50, "f": false, "ts": "2024-01-01 00:02:00.000"}
--|{"id": 7, "k": "c", "v": 7, "p": 3.00, "f": true, "ts": "2024-01-01 00:03:30.000"}
--|{"id": 8, "k": "b", "v": 20, "p": 2.25, "f": false, "ts": "2024-01-01 00:03:31.000"}
-- file d/part.json
--|{"k": "a", "n": "Anna", "w": 100, "ts": "2024-01-01 00:00:00.000"}
--|{"k": "b", "n": "Bob", "w": 200, "ts": "2024-01-01 00:00:04.000"}
--|{"k": "a", "n": "Ada", "w": 150, "ts": "2024-01-01 00:01:00.000"}
--|{"k": "d", "n": "Dan", "w": 50, "ts": "2024-01-01 00:02:30.000"}
--|{"k": null, "n": "Nobody", "w": null, "ts": "2024-01-01 00:03:00.000"}
CREATE TABLE o (id INT, k STRING, v INT, p DECIMAL(5, 2), f BOOLEAN, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ('connector' = 'filesystem', 'path' = '{tmp}/o', 'format' = 'json');
CREATE TABLE d (k STRING, n STRING, w INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp}/d', 'format' = 'json');
SELECT id, k, v, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id) AS rn FROM o) WHERE rn <= 2;
SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id) AS rn FROM o) WHERE rn <= 2;
SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM o) WHERE rn = 1;
SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM o) WHERE rn = 1;
SELECT k, s, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY s DESC) AS rn FROM (SELECT k, SUM(v) AS s FROM o GROUP BY k)) WHERE rn <= 2;
SELECT k, s FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY s) AS rn FROM (SELECT k, SUM(v) AS s FROM o GROUP BY k)) WHERE rn <= 2;
SELECT id, v FROM (SELECT *, RANK() OVER (ORDER BY v) AS rn FROM o) WHERE rn <= 2;
SELECT id, v, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v, id) AS rn FROM o) WHERE rn BETWEEN 2 AND 3;
SELECT id, v, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v, id) AS rn FROM o) WHERE rn = 2;
SELECT id, v FROM o ORDER BY v LIMIT 3;
SELECT id, v FROM o ORDER BY v DESC, id DESC LIMIT 2 OFFSET 1;
SELECT id FROM o LIMIT 3;
SELECT id FROM o LIMIT 2 OFFSET 2;
SELECT k, COUNT(*) AS n FROM o GROUP BY k LIMIT 2;
SELECT id, ts FROM o ORDER BY ts;
SELECT id, ts, v FROM o ORDER BY ts, v DESC;
SELECT id, v FROM o ORDER BY v;
SELECT id, k FROM (SELECT *, DENSE_RANK() OVER (ORDER BY v) AS rn FROM o) WHERE rn <= 2;
SELECT id, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS rn FROM o);
SELECT COUNT(*) AS c, SUM(v) AS s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM o) WHERE rn <= 1;
SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, f ORDER BY ts DESC) AS rn FROM o) WHERE rn = 1 AND v > 5;
SELECT k, n FROM (SELECT k, n, ROW_NUMBER() OVER (PARTITION BY n ORDER BY k) AS rn FROM (SELECT k, COUNT(*) AS n FROM o GROUP BY k)) WHERE rn <= 1;
SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v ASC NULLS LAST) AS rn FROM o) WHERE rn < 3 AND k IS NOT NULL;
SELECT id FROM o QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) = 1;
SELECT id, k, rn FROM (SELECT id, k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id) AS rn FROM o WHERE f) WHERE rn <= 3;
SELECT window_start, id, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS rn FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) WHERE rn <= 1;
SELECT MAX(v) AS m FROM (SELECT v FROM o ORDER BY v LIMIT 3);
SELECT id FROM o FETCH FIRST 2 ROWS ONLY;
SELECT id FROM o LIMIT 0;
