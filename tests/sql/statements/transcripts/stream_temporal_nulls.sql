-- rows: in any order
-- NULL finds the version of NULL.
-- file l/rows.csv
--|1,a,2024-01-01 00:00:01
--|2,,2024-01-01 00:00:05
--|3,b,2024-01-01 00:00:07
--|4,,2024-01-01 00:00:09
-- file r/rows.csv
--|a,10,2024-01-01 00:00:00
--|,20,2024-01-01 00:00:02
--|b,30,2024-01-01 00:00:03
--|,40,2024-01-01 00:00:08
CREATE TABLE l (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.null-literal' = '', 'path' = '{tmp}/l');
CREATE TABLE r (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.null-literal' = '', 'path' = '{tmp}/r');
CREATE VIEW dd AS SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM r) WHERE rn = 1;
SELECT l.id, l.k, d.v FROM l JOIN dd FOR SYSTEM_TIME AS OF l.ts AS d ON l.k = d.k;
SELECT l.id, l.k, d.v FROM l LEFT JOIN dd FOR SYSTEM_TIME AS OF l.ts AS d ON l.k = d.k;
CREATE TABLE vt (k STRING, v INT, ts TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED, WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.null-literal' = '', 'path' = '{tmp}/r');
SELECT l.id, l.k, d.v FROM l LEFT JOIN vt FOR SYSTEM_TIME AS OF l.ts AS d ON l.k = d.k;
CREATE VIEW dd2 AS SELECT CAST(k AS STRING) AS k, CAST(v AS BIGINT) AS v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM r) WHERE rn = 1;
SELECT l.id, l.k, d.v FROM l LEFT JOIN dd2 FOR SYSTEM_TIME AS OF l.ts AS d ON l.k = d.k AND d.v > 20;
SELECT l.id, l.k, d.v FROM l LEFT JOIN dd2 FOR SYSTEM_TIME AS OF l.ts AS d ON l.k = d.k AND l.id = d.v;
CREATE VIEW dd3 AS SELECT k, k2, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, k2 ORDER BY ts DESC) AS rn FROM (SELECT k, CASE WHEN v = 40 THEN CAST(NULL AS INT) ELSE v END AS k2, v, ts FROM r)) WHERE rn = 1;
SELECT l.id, l.k, d.v FROM l LEFT JOIN dd3 FOR SYSTEM_TIME AS OF l.ts AS d ON l.k = d.k AND CASE WHEN l.id = 4 THEN CAST(NULL AS INT) ELSE 20 END = d.k2;
