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
SELECT k FROM o UNION SELECT k FROM d;
SELECT k FROM o UNION ALL SELECT k FROM d;
SELECT k, v FROM o UNION SELECT k, w FROM d;
SELECT k, COUNT(*) AS n FROM (SELECT k FROM o UNION ALL SELECT k FROM d) GROUP BY k;
SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM o GROUP BY k) UNION ALL SELECT k, w FROM d;
SELECT v FROM o UNION ALL SELECT p FROM o WHERE p IS NOT NULL;
SELECT k FROM o UNION SELECT w FROM d;
SELECT id, k FROM o UNION SELECT k FROM d;
WITH x (a) AS (SELECT k FROM o) SELECT a, COUNT(*) AS n FROM x GROUP BY a;
SELECT id, k IN ('a', 'c') AS i, v BETWEEN 5 AND 10 AS b, p IS NULL AS pn FROM o;
SELECT id, COALESCE(v, 0) + id AS c, NULLIF(k, 'a') AS n, IF(f, 'y', 'n') AS y FROM o WHERE k LIKE 'a%' OR k IS NULL;
SELECT id, UPPER(k) || '-' || CAST(v AS STRING) AS t, CAST(p AS INT) AS i, TRY_CAST(k AS INT) AS tc FROM o;
SELECT id, EXTRACT(MINUTE FROM ts) AS m, DATE_FORMAT(ts, 'HH:mm') AS h, TIMESTAMPADD(DAY, 1, ts) AS nd, ts + INTERVAL '1' HOUR AS hh FROM o;
SELECT ROW(id, k) AS r, ARRAY[v, id] AS a, MAP['x', v] AS m FROM o;
SELECT r.id, r.k FROM (SELECT ROW(id, k) AS r FROM o) AS t;
SELECT t.r.f0 FROM (SELECT CAST(ROW(id, k) AS ROW<f0 INT, f1 STRING>) AS r FROM o) AS t;
SELECT id FROM o WHERE id / 0 > 1;
SELECT CAST(k AS INT) FROM o;
SELECT id, nope FROM o;
SELECT * FROM nope;
SELECT id, FOO(v) FROM o;
SELECT k, v FROM o WHERE v;
INSERT INTO o SELECT 1;
SELECT 1 AS a, 'x' AS b, TRUE AS c, CAST(NULL AS INT) AS d, DATE '2024-01-01' AS e, 1.5 AS f, 1e0 AS g, X'0AFF' AS h;
VALUES (1, 'a'), (2, NULL);
SELECT window_start, window_end, k, SUM(v) AS s FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, k;
SELECT window_start, COUNT(*) AS n, COUNT(DISTINCT k) AS dk FROM TABLE(HOP(TABLE o, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)) GROUP BY window_start, window_end;
SELECT window_start, window_end, k, COUNT(*) AS n FROM TABLE(SESSION(TABLE o PARTITION BY k, DESCRIPTOR(ts), INTERVAL '30' SECOND)) GROUP BY window_start, window_end, k;
SELECT window_start, window_end, SUM(v) AS n FROM TABLE(CUMULATE(TABLE o, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE)) GROUP BY window_start, window_end;
SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE) AS s, k, COUNT(*) AS n FROM o GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE), k;
SELECT HOP_END(ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE) AS s, SUM(v) AS n FROM o GROUP BY HOP(ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE);
SELECT SESSION_START(ts, INTERVAL '30' SECOND) AS s, SESSION_ROWTIME(ts, INTERVAL '30' SECOND) AS r, k, SUM(v) AS n FROM o GROUP BY SESSION(ts, INTERVAL '30' SECOND), k;
SELECT window_start, SUM(v) FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(v), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
SELECT k, window_start, SUM(v) FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start;
SELECT COUNT(*) AS n FROM (SELECT window_start, window_end, k, SUM(v) AS s FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, k);
