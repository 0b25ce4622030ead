-- rows: in any order
-- file s/a.csv
--|a,1,2024-01-01 00:00:01
--|a,2,2024-01-01 00:00:03
--|b,4,2024-01-01 00:00:05
--|b,8,2024-01-01 00:00:12
--|a,16,2024-01-01 00:00:23
CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp}/s', 'format' = 'csv');
CREATE TEMPORARY VIEW arrays AS SELECT * FROM (VALUES (1, ARRAY['x', 'y'], MAP['p', 1, 'q', 2]), (2, ARRAY['x'], MAP['p', 3]), (3, ARRAY[CAST(NULL AS STRING)], CAST(NULL AS MAP<STRING, INT>))) AS t(id, a, m);
SELECT id, u.e FROM arrays LEFT JOIN UNNEST(a) AS u(e) ON u.e <> 'x';
SELECT id, u.e FROM arrays LEFT JOIN UNNEST(a) AS u(e) ON e = 'x' AND id > 1;
SELECT id, u.e FROM arrays LEFT JOIN UNNEST(a) AS u(e) ON id > 1;
SELECT id, u.k, u.v FROM arrays LEFT JOIN UNNEST(m) AS u(k, v) ON v > 1;
SELECT id, u.e, u.n FROM arrays LEFT JOIN UNNEST(a) WITH ORDINALITY AS u(e, n) ON n > 1;
SELECT id, u.e FROM arrays JOIN UNNEST(a) AS u(e) ON u.e <> 'x';
SELECT id, u.e, w.f FROM arrays LEFT JOIN UNNEST(a) AS u(e) ON u.e <> 'x' LEFT JOIN UNNEST(a) AS w(f) ON w.f = u.e;
SELECT k, v, window_start, window_end FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '10' SECOND));
SELECT * FROM (SELECT k, v, window_start, window_end, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS rn FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '10' SECOND))) WHERE rn = 1;
SELECT window_start, COUNT(*) AS c FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, k FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '5' SECOND));
SELECT window_start, COUNT(*) AS c FROM (SELECT k, window_start, window_end FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '10' SECOND)) WHERE window_start > TIMESTAMP '2000-01-01 00:00:00') GROUP BY window_start, window_end;
SELECT k, COUNT(*) AS c FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '10' SECOND)) GROUP BY k;
SELECT x.k, y.k AS k2, x.window_start FROM (SELECT * FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '10' SECOND))) AS x JOIN (SELECT * FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '10' SECOND))) AS y ON x.window_start = y.window_start AND x.window_end = y.window_end AND x.v = y.v;
SELECT k, window_start FROM TABLE(CUMULATE(TABLE s, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '10' SECOND));
SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '9' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL -'10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, k FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '15' SECOND));
SELECT window_start, COUNT(*) AS c FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS c FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND, INTERVAL '6' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, window_end, COUNT(*) AS c FROM TABLE(CUMULATE(TABLE s, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT TUMBLE_START(ts, INTERVAL '10' SECOND, TIME '00:00:12') AS w, COUNT(*) AS c FROM s GROUP BY TUMBLE(ts, INTERVAL '10' SECOND, TIME '00:00:12');
SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY 1) AS rn FROM s) WHERE rn <= 1;
SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY 'x') AS rn FROM s) WHERE rn <= 2;
SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (ORDER BY CAST(NULL AS INT)) AS rn FROM s) WHERE rn <= 1;
SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY 1, v) AS rn FROM s) WHERE rn <= 1;
SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY 1 + 1) AS rn FROM s) WHERE rn <= 1;
SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY 'a' || 'b') AS rn FROM s) WHERE rn <= 1;
SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k, window_start, window_end ORDER BY 1) AS rn FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn <= 1;
CREATE TABLE two (a TIMESTAMP(3), b TIMESTAMP(3)) WITH ('connector' = 'blackhole');
INSERT INTO two SELECT ts, ts FROM s;
INSERT INTO two SELECT x.ts, y.ts FROM s AS x JOIN s AS y ON x.k = y.k AND x.ts BETWEEN y.ts - INTERVAL '1' SECOND AND y.ts;
INSERT INTO two SELECT ts, CAST(ts AS TIMESTAMP(3)) FROM s;
INSERT INTO two SELECT x.ts, y.ts FROM s AS x JOIN s AS y ON x.k = y.k;
SELECT ts, ts AS ts2 FROM s;
INSERT INTO two SELECT window_time, ts FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND));
CREATE TABLE z (k STRING, ts TIMESTAMP(0), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp}/z', 'format' = 'csv');
INSERT INTO z VALUES ('a', TIMESTAMP '2024-01-01 00:00:01.75'), ('b', TIMESTAMP '2024-01-01 00:00:12.5');
SELECT window_start, window_end, window_time, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE z, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, window_time;
SELECT k, ts, window_time FROM TABLE(TUMBLE(TABLE z, DESCRIPTOR(ts), INTERVAL '10' SECOND));
SELECT TUMBLE_ROWTIME(ts, INTERVAL '10' SECOND) AS r, COUNT(*) AS c FROM z GROUP BY TUMBLE(ts, INTERVAL '10' SECOND);
CREATE TEMPORARY VIEW vs AS SELECT * FROM s;
SELECT * FROM vs /*+ OPTIONS('csv.ignore-parse-errors' = 'true') */;
SELECT * FROM vs /*+ STATE_TTL('vs' = '1d') */;
SELECT * FROM (SELECT * FROM vs /*+ OPTIONS('path' = 'x') */);
WITH w AS (SELECT * FROM s) SELECT * FROM w /*+ OPTIONS('path' = 'x') */;
SELECT COUNT(*) FROM s /*+ OPTIONS('csv.ignore-parse-errors' = 'true') */;
INSERT INTO two /*+ OPTIONS('x' = 'y') */ SELECT ts, TIMESTAMP '2024-01-01 00:00:00' FROM s;
