-- rows: in any order
-- file w/a.csv
--|INSERT,a,2024-01-01 00:00:01
--|INSERT,b,2024-01-01 00:00:03
--|DELETE,a,2024-01-01 00:00:01
--|INSERT,a,2024-01-01 00:00:14
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
CREATE TABLE codes (code STRING, k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/o', 'format' = 'csv');
CREATE TEMPORARY VIEW sums AS SELECT k, SUM(v) AS total FROM s GROUP BY k;
CREATE TABLE w (op STRING, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp}/w', 'format' = 'csv');
SELECT * FROM TO_CHANGELOG(input => TABLE w, op => DESCRIPTOR(kind), on_time => DESCRIPTOR(ts));
CREATE TEMPORARY VIEW timed AS SELECT * FROM TO_CHANGELOG(input => TABLE w, op => DESCRIPTOR(kind), on_time => DESCRIPTOR(ts));
DESCRIBE timed;
CREATE TEMPORARY VIEW timed_from AS SELECT * FROM FROM_CHANGELOG(input => TABLE w);
DESCRIBE timed_from;
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE((SELECT * FROM TO_CHANGELOG(input => TABLE w, op => DESCRIPTOR(kind))), DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE((SELECT * FROM FROM_CHANGELOG(input => TABLE w)), DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT * FROM FROM_CHANGELOG(input => (SELECT CAST(op AS VARCHAR(20)) AS op, k FROM c));
SELECT * FROM FROM_CHANGELOG(input => (SELECT op FROM c));
SELECT * FROM FROM_CHANGELOG(input => TABLE c, op_mapping => NULL);
SELECT * FROM FROM_CHANGELOG(input => TABLE c, op => DEFAULT, op_mapping => DEFAULT);
SELECT * FROM FROM_CHANGELOG(input => TABLE codes, op => DESCRIPTOR(code), op_mapping => MAP['d', 'DELETE']);
SELECT * FROM FROM_CHANGELOG(input => (SELECT 'd' AS op, k FROM c WHERE v = 3), op_mapping => MAP['d', 'DELETE']);
SELECT * FROM FROM_CHANGELOG(input => TABLE c, op_mapping => MAP[' INSERT ', ' INSERT ']);
SELECT * FROM FROM_CHANGELOG(input => (SELECT k, op, v FROM c));
SELECT * FROM FROM_CHANGELOG(input => (SELECT k, v, op AS `Op` FROM c), op => DESCRIPTOR(`Op`));
SELECT * FROM FROM_CHANGELOG();
SELECT * FROM FROM_CHANGELOG(op => DESCRIPTOR(op));
SELECT k, v FROM FROM_CHANGELOG(input => TABLE c), TO_CHANGELOG(input => TABLE s) AS y;
SELECT x.k, y.op FROM FROM_CHANGELOG(input => TABLE c) AS x JOIN TO_CHANGELOG(input => TABLE s) AS y ON x.k = y.k;
SELECT * FROM TO_CHANGELOG(input => TABLE s, uid => '5 x');
SELECT * FROM TO_CHANGELOG(TABLE s, TABLE c);
EXPLAIN SELECT * FROM TO_CHANGELOG(input => TABLE s, uid => 'my-id');
EXPLAIN SELECT * FROM TO_CHANGELOG(input => TABLE w, op => DESCRIPTOR(kind), on_time => DESCRIPTOR(ts));
EXPLAIN SELECT op FROM TO_CHANGELOG(input => TABLE sums) UNION ALL SELECT op FROM TO_CHANGELOG(input => TABLE sums) WHERE op = 'INSERT';
EXPLAIN SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => MAP['INSERT, UPDATE_AFTER', 'false', 'DELETE', 'true']);
SELECT x.op, x.k, s.id FROM TO_CHANGELOG(input => TABLE sums) AS x JOIN s ON x.k = s.k AND s.id < 3;
SELECT x.k, x.v, s.id FROM FROM_CHANGELOG(input => TABLE c) AS x JOIN s ON x.k = s.k AND s.id < 3;
