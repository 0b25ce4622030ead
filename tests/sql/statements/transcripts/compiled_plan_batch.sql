-- mode: batch
-- file in/a.csv
--|a,1
--|b,2
--|a,3
CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/in', 'format' = 'csv');
CREATE TABLE out1 (k STRING, n BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE copied (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/copied', 'format' = 'csv');
CREATE VIEW w AS SELECT * FROM t;
COMPILE PLAN '{tmp}/p1.json' FOR INSERT INTO copied SELECT k, v FROM t WHERE v > 1;
COMPILE PLAN '{tmp}/p1.json' FOR INSERT INTO copied SELECT k, v FROM t WHERE v > 2;
COMPILE PLAN '{tmp}/p1.json' IF NOT EXISTS FOR INSERT INTO copied SELECT k, v FROM t WHERE v > 2;
EXECUTE PLAN '{tmp}/p1.json';
SELECT * FROM copied;
