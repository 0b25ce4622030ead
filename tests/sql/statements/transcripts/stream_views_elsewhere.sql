-- rows: in any order
-- file here/a.csv
--|ann,1,2024-01-01 00:00:01
--|bob,2,2024-01-01 01:00:01
--|bob,3,2024-01-01 01:00:02
-- file there/a.csv
--|zoe,9,2025-01-01 00:00:01
CREATE TABLE t1 (name STRING, score INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp}/here', 'format' = 'csv');
CREATE VIEW v0 AS TABLE t1;
CREATE VIEW v1 AS SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE t1, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
CREATE VIEW v2 AS SELECT window_start, COUNT(*) AS c FROM TABLE(HOP(TABLE t1, DESCRIPTOR(ts), INTERVAL '30' MINUTE, INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
CREATE TEMPORARY VIEW v3 AS SELECT window_start, COUNT(*) AS c FROM TABLE(CUMULATE(TABLE t1, DESCRIPTOR(ts), INTERVAL '30' MINUTE, INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
CREATE VIEW v4 AS SELECT name, window_start, COUNT(*) AS c FROM TABLE(SESSION(TABLE t1 PARTITION BY name, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY name, window_start, window_end;
CREATE VIEW v5 AS SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(DATA => TABLE t1, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
CREATE VIEW v6 AS SELECT c FROM (SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE t1, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end) AS x WHERE c > 0;
CREATE VIEW v7 AS SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE((SELECT * FROM t1), DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
CREATE VIEW v8 AS SELECT name FROM t1 UNION ALL SELECT name FROM (TABLE t1);
CREATE VIEW v9 AS WITH w AS (TABLE t1) SELECT name FROM w;
CREATE VIEW v10 AS SELECT name, score FROM TABLE(TUMBLE(TABLE default_database.t1, DESCRIPTOR(ts), INTERVAL '1' HOUR));
CREATE VIEW v11 AS SELECT w.name, w.window_start FROM TABLE(TUMBLE(TABLE t1, DESCRIPTOR(ts), INTERVAL '1' HOUR)) AS w JOIN t1 ON w.name = t1.name AND w.ts = t1.ts;
CREATE VIEW v12 AS SELECT name FROM t1 WHERE score IN (SELECT score FROM (TABLE t1));
CREATE VIEW v13 AS WITH t2 AS (SELECT * FROM t1 WHERE score > 1) SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE t2, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
CREATE VIEW v14 AS SELECT name FROM t1 /*+ OPTIONS('csv.field-delimiter' = ',') */;
CREATE VIEW v15 AS SELECT name, score FROM t1 MATCH_RECOGNIZE (ORDER BY ts MEASURES A.name AS name, A.score AS score PATTERN (A) DEFINE A AS A.score > 1);
CREATE VIEW v16 (n, w) AS SELECT name, window_start FROM TABLE(TUMBLE(TABLE t1, DESCRIPTOR(ts), INTERVAL '1' HOUR));
CREATE DATABASE other;
USE other;
SELECT * FROM default_database.v0;
SELECT * FROM default_database.v1;
CREATE TABLE t1 (name STRING, score INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp}/there', 'format' = 'csv');
SELECT * FROM default_database.v0;
SELECT * FROM default_database.v1;
SELECT * FROM default_database.v2;
SELECT * FROM default_database.v3;
SELECT * FROM default_database.v4;
SELECT * FROM default_database.v5;
SELECT * FROM default_database.v6;
SELECT * FROM default_database.v7;
SELECT * FROM default_database.v8;
SELECT * FROM default_database.v9;
SELECT * FROM default_database.v10;
SELECT * FROM default_database.v11;
SELECT * FROM default_database.v12;
SELECT * FROM default_database.v13;
SELECT * FROM default_database.v14;
SELECT * FROM default_database.v15;
SELECT * FROM default_database.v16;
SHOW CREATE VIEW default_database.v0;
SHOW CREATE VIEW default_database.v1;
SHOW CREATE VIEW default_database.v4;
SHOW CREATE VIEW default_database.v5;
SHOW CREATE VIEW default_database.v11;
SHOW CREATE VIEW default_database.v13;
