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
SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM o;
SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s, COUNT(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS c FROM o;
SELECT id, AVG(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW) AS s FROM o;
SELECT id, COUNT(*) OVER (ORDER BY ts) AS c, MAX(v) OVER (ORDER BY ts) AS m FROM o;
SELECT id, SUM(v) OVER w AS s, MIN(v) OVER w AS m FROM o WINDOW w AS (PARTITION BY f ORDER BY ts ROWS UNBOUNDED PRECEDING);
SELECT id, LAG(v) OVER (PARTITION BY k ORDER BY ts) AS l, LAG(v, 2, -1) OVER (PARTITION BY k ORDER BY ts) AS l2 FROM o;
SELECT id, LEAD(v) OVER (PARTITION BY k ORDER BY ts) AS l FROM o;
SELECT id, FIRST_VALUE(v) OVER (PARTITION BY k ORDER BY ts) AS l, LAST_VALUE(v) OVER (PARTITION BY k ORDER BY ts) AS m FROM o;
SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS l FROM o;
SELECT id, RANK() OVER (PARTITION BY k ORDER BY ts) AS l FROM o;
SELECT id, COUNT(DISTINCT v) OVER (PARTITION BY k ORDER BY ts) AS l FROM o;
SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY id) AS s FROM o;
SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY v) AS s FROM o;
SELECT id, SUM(v) OVER (PARTITION BY k) AS s FROM o;
SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts DESC) AS s FROM o;
SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS s FROM o;
SELECT k, s FROM (SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM o) WHERE s > 20;
SELECT k, MAX(s) AS m FROM (SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM o) GROUP BY k;
SELECT id, SUM(n) OVER (ORDER BY ts) FROM (SELECT id, ts, CAST(1 AS INT) AS n FROM o WHERE v > 5);
SELECT id, LISTAGG(k) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS l FROM o;
SELECT id, NTILE(2) OVER (ORDER BY ts) AS l FROM o;
SELECT id, STDDEV_POP(v) OVER (PARTITION BY k ORDER BY ts) AS l FROM o;
