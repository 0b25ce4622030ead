-- rows: in any order
-- file s/a.csv
--|a,x,1,2024-01-01 00:00:01
--|a,y,2,2024-01-01 00:00:03
--|b,x,4,2024-01-01 00:00:05
--|,x,8,2024-01-01 00:00:12
--|b,,16,2024-01-01 00:00:14
--|a,x,32,2024-01-01 00:00:31
CREATE TABLE src (k STRING, g STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp}/s', 'format' = 'csv', 'csv.null-literal' = '');
SELECT k, g, window_start, SUM(v) AS s, GROUPING(k) AS a, GROUPING(g) AS b, GROUPING_ID(k, g) AS c, GROUPING_ID(g, k) AS d FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY ROLLUP(k, g), window_start, window_end;
SELECT k, g, window_start, SUM(v) AS s, GROUPING(k) AS a, GROUPING(g) AS b, GROUPING_ID(k, g) AS c, GROUPING_ID(g, k) AS d FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, CUBE(k, g);
SELECT k, g, window_start, SUM(v) AS s, GROUPING(k) AS a, GROUPING(g) AS b, GROUPING_ID(k, g) AS c, GROUPING_ID(g, k) AS d FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_end, GROUPING SETS ((k), (g), ()), window_start;
SELECT k, g, window_start, SUM(v) AS s, GROUPING(k) AS a, GROUPING(g) AS b, GROUPING_ID(k, g) AS c, GROUPING_ID(g, k) AS d FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY GROUPING SETS ((g, k), (k)), window_end, window_start, window_time;
SELECT k, g, window_start, SUM(v) AS s, GROUPING(k) AS a, GROUPING(g) AS b, GROUPING_ID(k, g) AS c, GROUPING_ID(g, k) AS d FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) GROUP BY ROLLUP(k, g), window_start, window_end;
SELECT k, g, window_start, SUM(v) AS s, GROUPING(k) AS a, GROUPING(g) AS b, GROUPING_ID(k, g) AS c, GROUPING_ID(g, k) AS d FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) GROUP BY window_start, window_end, CUBE(k, g);
SELECT k, g, window_start, SUM(v) AS s, GROUPING(k) AS a, GROUPING(g) AS b, GROUPING_ID(k, g) AS c, GROUPING_ID(g, k) AS d FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) GROUP BY window_end, GROUPING SETS ((k), (g), ()), window_start;
SELECT k, g, window_start, SUM(v) AS s, GROUPING(k) AS a, GROUPING(g) AS b, GROUPING_ID(k, g) AS c, GROUPING_ID(g, k) AS d FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) GROUP BY GROUPING SETS ((g, k), (k)), window_end, window_start, window_time;
SELECT k, g, window_start, SUM(v) AS s, GROUPING(k) AS a, GROUPING(g) AS b, GROUPING_ID(k, g) AS c, GROUPING_ID(g, k) AS d FROM TABLE(CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) GROUP BY ROLLUP(k, g), window_start, window_end;
SELECT k, g, window_start, SUM(v) AS s, GROUPING(k) AS a, GROUPING(g) AS b, GROUPING_ID(k, g) AS c, GROUPING_ID(g, k) AS d FROM TABLE(CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) GROUP BY window_start, window_end, CUBE(k, g);
SELECT k, g, window_start, SUM(v) AS s, GROUPING(k) AS a, GROUPING(g) AS b, GROUPING_ID(k, g) AS c, GROUPING_ID(g, k) AS d FROM TABLE(CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) GROUP BY window_end, GROUPING SETS ((k), (g), ()), window_start;
SELECT k, g, window_start, SUM(v) AS s, GROUPING(k) AS a, GROUPING(g) AS b, GROUPING_ID(k, g) AS c, GROUPING_ID(g, k) AS d FROM TABLE(CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) GROUP BY GROUPING SETS ((g, k), (k)), window_end, window_start, window_time;
SELECT k, SUM(v) AS s FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY ROLLUP(k), window_start, window_end HAVING GROUPING(k) = 1;
SELECT CASE WHEN GROUPING(k) = 1 THEN 'all' ELSE k END AS kk, window_start, SUM(v) AS s FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) GROUP BY CUBE(k), window_start, window_end;
SELECT k, window_start, GROUPING(window_start) AS a, GROUPING_ID(window_start, k, window_end) AS b, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY ROLLUP(k), window_start, window_end;
SELECT k, window_start, COUNT(*) AS c, GROUPING(k) AS a FROM TABLE(CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) GROUP BY GROUPING SETS ((k, window_start, window_end), (window_start, window_end));
SELECT k, g, COUNT(DISTINCT v) AS c, GROUPING_ID(k, g) AS a FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY CUBE(k, g), window_start, window_end HAVING GROUPING_ID(k, g) IN (1, 3);
SELECT k, GROUPING(k) AS a, LISTAGG(g) AS l FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY ROLLUP(k), window_start, window_end;
SELECT k, window_start, COUNT(*) AS c, GROUPING(k) AS a FROM (SELECT k, window_start, window_end FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) WHERE window_start > TIMESTAMP '2000-01-01 00:00:00') GROUP BY ROLLUP(k), window_start, window_end;
SELECT k, SUM(s) AS t, GROUPING(k) AS a FROM (SELECT k, g, SUM(v) AS s, window_start, window_end FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, g, window_start, window_end) GROUP BY ROLLUP(k), window_start, window_end;
SELECT k, COUNT(*) AS c, GROUPING(k) AS a FROM TABLE(SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY ROLLUP(k), window_start, window_end;
SELECT k, COUNT(*) AS c, GROUPING(k) AS a FROM src GROUP BY GROUPING SETS ((TUMBLE(ts, INTERVAL '10' SECOND), k), (TUMBLE(ts, INTERVAL '10' SECOND)));
SELECT k, window_start, COUNT(*) AS c, GROUP_ID() AS a FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY ROLLUP(k), window_start, window_end;
