-- mode: streaming
-- set table.plan.restore.catalog-objects=ALL_ENFORCED
-- file in/a.csv
--|a,1
--|b,2
--|a,3
CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/in', 'format' = 'csv');
CREATE TABLE copied (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/copied', 'format' = 'csv');
COMPILE PLAN '{tmp}/p1.json' FOR INSERT INTO copied SELECT k, v FROM t WHERE v > 1;
COMPILE PLAN '{tmp}/p1.json' FOR INSERT INTO copied SELECT k, v FROM t WHERE v > 2;
EXECUTE PLAN '{tmp}/p1.json';
SELECT * FROM copied;
DROP TABLE t;
EXECUTE PLAN '{tmp}/p1.json';
CREATE TABLE t (k STRING, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/in', 'format' = 'csv');
EXECUTE PLAN '{tmp}/p1.json';
DROP TABLE t;
CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
EXECUTE PLAN '{tmp}/p1.json';
DROP TABLE t;
DROP TABLE copied;
EXECUTE PLAN '{tmp}/p1.json';
CREATE TEMPORARY TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/in', 'format' = 'csv');
CREATE TEMPORARY TABLE copied (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/copied', 'format' = 'csv');
EXECUTE PLAN '{tmp}/p1.json';
SELECT COUNT(*) FROM copied;
