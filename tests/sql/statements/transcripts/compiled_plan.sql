-- mode: streaming
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
EXECUTE PLAN '{tmp}/nothing.json';
COMPILE PLAN 'p2.json' FOR SELECT * FROM t;
COMPILE PLAN 'p2.json' FOR CREATE TABLE x (a INT);
COMPILE PLAN '{tmp}/p2.json' FOR INSERT INTO nowhere SELECT k, v FROM t;
COMPILE PLAN 'p2.json' FOR INSERT INTO copied SELECT k, nope FROM t;
COMPILE PLAN '{tmp}/p2.json' FOR INSERT INTO copied SELECT k FROM t;
COMPILE PLAN '{tmp}/p3.json' FOR STATEMENT SET BEGIN INSERT INTO out1 SELECT k, SUM(v) FROM t GROUP BY k; INSERT INTO copied SELECT k, v FROM w; END;
EXECUTE PLAN '{tmp}/p3.json';
COMPILE AND EXECUTE PLAN '{tmp}/p4.json' FOR INSERT INTO out1 SELECT k, COUNT(*) FROM t GROUP BY k;
COMPILE AND EXECUTE PLAN '{tmp}/p4.json' FOR INSERT INTO out1 SELECT k, SUM(v) FROM t GROUP BY k;
COMPILE AND EXECUTE PLAN '{tmp}/p1.json' FOR INSERT INTO copied SELECT k, v FROM t;
COMPILE PLAN 'relative-plan-of-scurry' FOR STATEMENT SET BEGIN END;
COMPILE PLAN '{tmp}/nodir/p6.json' FOR INSERT INTO copied SELECT k, v FROM t;
EXECUTE PLAN '{tmp}/in/a.csv';
EXECUTE PLAN '{tmp}/in';
CREATE TABLE ordered (ts TIMESTAMP(3), v INT, WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', 'number-of-rows' = '3');
COMPILE PLAN '{tmp}/p7.json' FOR INSERT INTO out1 SELECT CAST(window_start AS STRING), SUM(v) FROM TUMBLE(TABLE ordered, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end;
EXECUTE PLAN '{tmp}/p7.json';
DROP TABLE out1;
EXECUTE PLAN '{tmp}/p4.json';
CREATE TABLE out1 (k INT, n BIGINT, more INT) WITH ('connector' = 'blackhole');
EXECUTE PLAN '{tmp}/p4.json';
EXPLAIN COMPILE PLAN '{tmp}/p8.json' FOR INSERT INTO copied SELECT k, v FROM t;
EXPLAIN EXECUTE PLAN '{tmp}/p1.json';
EXECUTE PLAN;
COMPILE PLAN FOR INSERT INTO copied SELECT k, v FROM t;
COMPILE PLAN 'p9.json' FOR STATEMENT SET BEGIN SELECT 1; END;
