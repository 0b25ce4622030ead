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
SELECT k, COUNT(*) AS n, SUM(v) AS s, AVG(v) AS a, MIN(p) AS mi, MAX(p) AS ma FROM o GROUP BY k;
SELECT COUNT(*), COUNT(v), COUNT(DISTINCT v), SUM(DISTINCT v) FROM o;
SELECT k, COUNT(*) FILTER (WHERE f) AS t, SUM(v) FILTER (WHERE v > 10) AS s FROM o GROUP BY k HAVING COUNT(*) > 1;
SELECT n, COUNT(*) AS c FROM (SELECT k, COUNT(*) AS n FROM o GROUP BY k) GROUP BY n;
SELECT MAX(s) AS m, MIN(s) AS i, AVG(s) AS a FROM (SELECT k, SUM(v) AS s FROM o GROUP BY k);
SELECT k, f, COUNT(*) AS n FROM o GROUP BY ROLLUP (k, f);
SELECT k, f, GROUPING(k) AS gk, GROUPING_ID(k, f) AS g, SUM(v) AS s FROM o GROUP BY CUBE (k, f);
SELECT k, LISTAGG(CAST(id AS STRING)) AS l FROM o GROUP BY k;
SELECT k, LISTAGG(DISTINCT CAST(v AS STRING), '|') AS l FROM o GROUP BY k;
SELECT k, FIRST_VALUE(v) AS a, LAST_VALUE(v) AS b, LAST_VALUE(p) AS c FROM o GROUP BY k;
SELECT k, COLLECT(v) AS c FROM o GROUP BY k;
SELECT k, STDDEV_POP(v) AS sp, VAR_SAMP(v) AS vs FROM o GROUP BY k;
SELECT DISTINCT k, v FROM o;
SELECT DISTINCT f FROM o WHERE k IS NOT NULL;
SELECT v / 10 AS t, COUNT(*) AS n FROM o GROUP BY v / 10;
SELECT CASE WHEN v > 10 THEN 'big' ELSE 'small' END AS size, COUNT(*) AS n FROM o GROUP BY CASE WHEN v > 10 THEN 'big' ELSE 'small' END;
SELECT k, SUM(v) + 1 AS s, COUNT(*) * 2 AS n FROM o GROUP BY k HAVING SUM(v) IS NOT NULL;
SELECT SUM(n) AS total FROM (SELECT k, COUNT(*) AS n FROM o GROUP BY k HAVING COUNT(*) < 3);
SELECT LAST_VALUE(s) AS s FROM (SELECT k, SUM(v) AS s FROM o GROUP BY k);
SELECT LISTAGG(k) AS l FROM (SELECT k, COUNT(*) AS n FROM o GROUP BY k) WHERE n > 1;
SELECT COUNT(DISTINCT s) AS c FROM (SELECT k, SUM(v) AS s FROM o GROUP BY k);
SELECT k, JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE v) AS j FROM o GROUP BY k;
SELECT k, JSON_ARRAYAGG(v ORDER BY v) AS j FROM o GROUP BY k;
SELECT k, JSON_ARRAYAGG(v NULL ON NULL) AS j FROM o GROUP BY k;
SELECT k, ARRAY_AGG(v) AS j FROM o GROUP BY k;
SELECT SUM(v) AS s FROM o WHERE v > 1000;
SELECT k, SUM(v) AS s FROM o WHERE v > 1000 GROUP BY k;
SELECT k, COUNT(*) AS n FROM o GROUP BY k ORDER BY n;
SELECT k FROM o GROUP BY id;
SELECT k, SUM(k) FROM o GROUP BY k;
SELECT COUNT(*) AS n FROM (SELECT DISTINCT k FROM o);
SELECT SINGLE_VALUE(id) FROM o WHERE id = 3;
SELECT k, MAX(ts) AS m FROM o GROUP BY k;
SELECT APPROX_COUNT_DISTINCT(v) FROM o;
