-- set parallelism.default=1
-- file s/a.csv
--|1,a,10
--|2,b,20
--|3,a,30
--|4,c,5
--|5,b,1
-- file c/a.csv
--|INSERT,a,1
--|INSERT,b,2
--|UPDATE_BEFORE,a,1
--|UPDATE_AFTER,a,5
--|DELETE,b,2
--|INSERT,c,3
-- file o/a.csv
--|c,a,1
--|r,b,2
--|ub,a,1
--|ua,a,5
--|d,b,2
-- file bad/a.csv
--|INSERT,a,1
--|oops,b,2
-- file nil/a.csv
--|INSERT,a,1
--|,b,2
CREATE TABLE s (id INT, k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/s', 'format' = 'csv');
CREATE TABLE c (op STRING, k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/c', 'format' = 'csv');
CREATE TABLE o (k STRING, code STRING NOT NULL, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/o2', 'format' = 'csv');
CREATE TABLE codes (code STRING, k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/o', 'format' = 'csv');
CREATE TABLE bad (op STRING, k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/bad', 'format' = 'csv');
CREATE TABLE nil (op STRING, k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/nil', 'format' = 'csv', 'csv.null-literal' = '');
CREATE TABLE n (op INT, k STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
CREATE TABLE t (k STRING, ts TIMESTAMP(3), v INT, op STRING, WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
CREATE TABLE pk (k STRING, v BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
CREATE TABLE sink (op STRING, k STRING, v INT) WITH ('connector' = 'print');
CREATE TEMPORARY VIEW sums AS SELECT k, SUM(v) AS total FROM s GROUP BY k;
CREATE TEMPORARY VIEW last_rows AS SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM s) WHERE rn <= 1;
SELECT * FROM TO_CHANGELOG(input => TABLE s);
SELECT * FROM TO_CHANGELOG(input => TABLE sums);
SELECT * FROM TO_CHANGELOG(TABLE sums);
SELECT * FROM TABLE(TO_CHANGELOG(TABLE sums));
SELECT * FROM TO_CHANGELOG(input => (SELECT k, SUM(v) AS total FROM s GROUP BY k));
SELECT * FROM TO_CHANGELOG(input => TABLE last_rows);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op => DESCRIPTOR(kind));
SELECT * FROM TO_CHANGELOG(TABLE sums, DESCRIPTOR(kind), MAP['INSERT', 'I', 'UPDATE_AFTER', 'U']);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => MAP['INSERT, UPDATE_AFTER', 'false', 'DELETE', 'true']);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => MAP['UPDATE_BEFORE,DELETE', 'gone']);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => MAP[' INSERT ', 'I']);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => MAP['INSERT', CAST(NULL AS STRING)]);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => MAP['INSERT', 1]);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => MAP['insert', 'I']);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => MAP['INSERT', 'I', 'INSERT', 'J']);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => MAP['INSERT, DELETE', 'I', 'DELETE', 'J']);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => MAP['INSERT,', 'I']);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => MAP['INSERT', UPPER('i')]);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => 'INSERT');
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op => DESCRIPTOR(a, b));
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op => 'op');
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op => DESCRIPTOR(k));
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op => DEFAULT, op_mapping => DEFAULT);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => NULL);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => CAST(NULL AS MAP<STRING, STRING>));
SELECT * FROM TO_CHANGELOG(input => TABLE c);
SELECT * FROM TO_CHANGELOG(input => TABLE sums PARTITION BY k);
SELECT * FROM TO_CHANGELOG(input => TABLE sums ORDER BY k);
SELECT * FROM TO_CHANGELOG();
SELECT * FROM TO_CHANGELOG(input => 5);
SELECT * FROM TO_CHANGELOG(TABLE sums, DESCRIPTOR(a), MAP['INSERT', 'I'], 5);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, other => 5);
SELECT * FROM TO_CHANGELOG(input => TABLE sums, produces_full_deletes => TRUE);
SELECT * FROM TO_CHANGELOG(input => TABLE s, uid => 'my-id');
SELECT * FROM TO_CHANGELOG(input => TABLE t, on_time => DESCRIPTOR(ts));
SELECT * FROM TO_CHANGELOG(input => TABLE missing);
SELECT TO_CHANGELOG(k) FROM s;
SELECT op, COUNT(*) AS n FROM TO_CHANGELOG(input => TABLE sums) GROUP BY op;
SELECT * FROM TO_CHANGELOG(input => TABLE sums) WHERE op = 'UPDATE_AFTER';
SELECT * FROM TO_CHANGELOG(input => TABLE sums) AS x (a, b, c);
SELECT op, total FROM TO_CHANGELOG(input => TABLE sums) UNION ALL SELECT k, v FROM s WHERE id = 1;
SELECT * FROM TO_CHANGELOG(input => (SELECT k, v FROM s WHERE v > 100));
INSERT INTO sink SELECT * FROM TO_CHANGELOG(input => TABLE sums);
SELECT * FROM FROM_CHANGELOG(input => TABLE c);
SELECT * FROM FROM_CHANGELOG(TABLE c);
SELECT * FROM TABLE(FROM_CHANGELOG(TABLE c));
SELECT * FROM FROM_CHANGELOG(TABLE c, DESCRIPTOR(op));
SELECT * FROM FROM_CHANGELOG(input => TABLE codes, op => DESCRIPTOR(code), op_mapping => MAP['c, r', 'INSERT', 'ub', 'UPDATE_BEFORE', 'ua', 'UPDATE_AFTER', 'd', 'DELETE']);
SELECT * FROM FROM_CHANGELOG(input => TABLE codes, op => DESCRIPTOR(code), op_mapping => MAP['c, r', 'INSERT', 'ub', 'UPDATE_BEFORE', 'ua', 'UPDATE_AFTER']);
SELECT * FROM FROM_CHANGELOG(input => TABLE codes, op => DESCRIPTOR(code), op_mapping => MAP['c,r,ua', 'INSERT', 'd,ub', 'DELETE']);
SELECT * FROM FROM_CHANGELOG(input => TABLE codes, op => DESCRIPTOR(code), op_mapping => MAP['c,r', 'INSERT', 'd,ub', 'DELETE', 'ua', 'UPDATE_AFTER']);
SELECT * FROM FROM_CHANGELOG(input => TABLE codes, op => DESCRIPTOR(code), op_mapping => MAP['c', 'INSERT', 'r', 'INSERT']);
SELECT * FROM FROM_CHANGELOG(input => TABLE codes, op => DESCRIPTOR(code), op_mapping => MAP['c, c', 'INSERT']);
SELECT * FROM FROM_CHANGELOG(input => TABLE codes, op => DESCRIPTOR(code), op_mapping => MAP['c', 'insert']);
SELECT * FROM FROM_CHANGELOG(input => TABLE codes, op => DESCRIPTOR(code), op_mapping => MAP['c', 'INSERT', 'c', 'DELETE']);
SELECT * FROM FROM_CHANGELOG(input => TABLE codes, op => DESCRIPTOR(code), op_mapping => MAP['c,d', 'INSERT', 'd', 'DELETE']);
SELECT * FROM FROM_CHANGELOG(input => TABLE codes, op => DESCRIPTOR(code), op_mapping => MAP['c', 'INSERT,DELETE']);
SELECT * FROM FROM_CHANGELOG(input => TABLE codes, op => DESCRIPTOR(code), op_mapping => MAP['c', CAST(NULL AS STRING)]);
SELECT * FROM FROM_CHANGELOG(input => TABLE c, op_mapping => MAP['INSERT', UPPER('insert')]);
SELECT * FROM FROM_CHANGELOG(input => TABLE bad);
SELECT * FROM FROM_CHANGELOG(input => TABLE nil);
SELECT * FROM FROM_CHANGELOG(input => TABLE s);
SELECT * FROM FROM_CHANGELOG(input => TABLE n);
SELECT * FROM FROM_CHANGELOG(input => TABLE c, op => DESCRIPTOR(a, b));
SELECT * FROM FROM_CHANGELOG(input => TABLE c, op => DESCRIPTOR(nope));
SELECT * FROM FROM_CHANGELOG(input => TABLE c, op => DESCRIPTOR(OP));
SELECT * FROM FROM_CHANGELOG(input => TABLE sums, op => DESCRIPTOR(k));
SELECT * FROM FROM_CHANGELOG(input => TABLE c PARTITION BY k);
SELECT * FROM FROM_CHANGELOG(input => TABLE c, invalid_op_handling => 'SKIP');
SELECT * FROM FROM_CHANGELOG(input => TABLE t, on_time => DESCRIPTOR(ts));
SELECT * FROM FROM_CHANGELOG(input => TABLE c, uid => 'my-id');
SELECT k, SUM(v) AS total FROM FROM_CHANGELOG(input => TABLE c) GROUP BY k;
SELECT COUNT(*) AS n, MAX(v) AS m FROM FROM_CHANGELOG(input => TABLE c);
SELECT k, v FROM FROM_CHANGELOG(input => TABLE c) WHERE v > 1;
SELECT * FROM FROM_CHANGELOG(input => TABLE c) ORDER BY v LIMIT 1;
SELECT * FROM FROM_CHANGELOG(input => (SELECT * FROM TO_CHANGELOG(input => TABLE sums)));
SELECT * FROM FROM_CHANGELOG(input => (SELECT * FROM TO_CHANGELOG(input => TABLE last_rows)));
SELECT * FROM TO_CHANGELOG(input => (SELECT * FROM FROM_CHANGELOG(input => TABLE c)));
INSERT INTO pk SELECT * FROM FROM_CHANGELOG(input => TABLE c);
INSERT INTO s SELECT 1, k, v FROM FROM_CHANGELOG(input => TABLE c);
CREATE TEMPORARY VIEW changed AS SELECT * FROM TO_CHANGELOG(input => TABLE sums);
DESCRIBE changed;
CREATE TEMPORARY VIEW restored AS SELECT * FROM FROM_CHANGELOG(input => TABLE c);
DESCRIBE restored;
CREATE TEMPORARY VIEW restored2 AS SELECT * FROM FROM_CHANGELOG(input => (SELECT * FROM TO_CHANGELOG(input => TABLE t)));
DESCRIBE restored2;
CREATE TEMPORARY VIEW changed2 AS SELECT * FROM TO_CHANGELOG(input => TABLE t, op => DESCRIPTOR(kind));
DESCRIBE changed2;
EXPLAIN SELECT * FROM TO_CHANGELOG(input => TABLE sums);
EXPLAIN CHANGELOG_MODE SELECT * FROM TO_CHANGELOG(input => TABLE sums);
EXPLAIN CHANGELOG_MODE SELECT op, k FROM TO_CHANGELOG(input => TABLE sums, op => DESCRIPTOR(op), op_mapping => MAP['INSERT', 'I', 'UPDATE_AFTER', 'U']) WHERE total > 10;
EXPLAIN CHANGELOG_MODE SELECT * FROM FROM_CHANGELOG(input => TABLE c);
EXPLAIN CHANGELOG_MODE SELECT * FROM FROM_CHANGELOG(input => TABLE codes, op => DESCRIPTOR(code), op_mapping => MAP['c', 'INSERT', 'd', 'DELETE']);
EXPLAIN CHANGELOG_MODE INSERT INTO pk SELECT * FROM FROM_CHANGELOG(input => TABLE c);
EXPLAIN CHANGELOG_MODE SELECT k, COUNT(*) FROM FROM_CHANGELOG(input => (SELECT * FROM TO_CHANGELOG(input => TABLE last_rows))) WHERE v > 3 GROUP BY k;
