-- mode: streaming
-- a CASE that has one result is that column, and keeps its time
-- file ev.csv
--|a,1,2024-01-01 00:00:01
--|b,2,2024-01-01 00:00:02
--|a,3,2024-01-01 00:00:04
--|b,4,2024-01-01 00:00:07
--|a,5,2024-01-01 00:00:12
CREATE TABLE ev (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='filesystem','path'='{tmp}/ev.csv','format'='csv');
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, CASE WHEN k = 'a' THEN ts ELSE ts END AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, IF(k = 'a', ts, ts) AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, COALESCE(ts, ts) AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, CASE WHEN TRUE THEN ts ELSE ts + INTERVAL '1' SECOND END AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, CASE WHEN FALSE THEN ts - INTERVAL '1' SECOND ELSE ts END AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, CASE WHEN 1 = 1 THEN ts ELSE ts + INTERVAL '1' SECOND END AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, CASE k WHEN 'a' THEN ts WHEN 'b' THEN ts ELSE ts END AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, CASE WHEN k = 'a' THEN ts END AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, CASE WHEN k = 'a' THEN CASE WHEN v > 1 THEN ts ELSE ts END ELSE ts END AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, NULLIF(ts, ts) AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, CASE WHEN k = 'a' THEN ts WHEN FALSE THEN ts + INTERVAL '1' SECOND ELSE ts END AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, CASE WHEN k IS NULL THEN CAST(NULL AS TIMESTAMP(3)) ELSE ts END AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, CASE WHEN NULL THEN ts + INTERVAL '1' SECOND ELSE ts END AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, GREATEST(ts, ts) AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, CAST(ts AS TIMESTAMP(3)) AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(v) AS s FROM TABLE(TUMBLE((SELECT k, v, CASE WHEN k = 'a' OR TRUE THEN ts ELSE ts + INTERVAL '1' SECOND END AS t FROM ev), DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY t) AS x FROM (SELECT k, v, CASE WHEN k = 'a' THEN ts ELSE ts END AS t FROM ev);
SELECT a.v, b.v FROM (SELECT v, CASE WHEN k = 'a' THEN ts ELSE ts END AS t FROM ev) a, ev b WHERE a.v = 4 AND a.t BETWEEN b.ts AND b.ts + INTERVAL '1' SECOND;
SELECT v FROM (SELECT v, CASE WHEN k = 'a' THEN ts ELSE ts END AS t FROM ev) ORDER BY t;
SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY t) AS n FROM (SELECT k, v, CASE WHEN k = 'a' THEN ts ELSE ts END AS t FROM ev)) WHERE n = 1;
CREATE VIEW vc AS SELECT k, v, COALESCE(ts, ts) AS t, CASE WHEN k = 'a' THEN ts ELSE ts END AS w, CASE WHEN k = 'a' THEN ts ELSE ts + INTERVAL '1' SECOND END AS x FROM ev;
DESCRIBE vc;
CREATE VIEW vd AS SELECT COALESCE(ts, TIMESTAMP '2024-01-01 00:00:00') AS u FROM ev;
DESCRIBE vd;
