-- mode: streaming
-- file in/a.json
--|{"a": 1, "ts": "2024-01-01 00:00:01"}
--|{"a": 2, "ts": null}
--|{"a": 3, "ts": "2024-01-01 00:02:00"}
CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp}/in', 'format' = 'json');
CREATE VIEW v AS SELECT * FROM (VALUES (1, 'abc', TRUE), (5, 'xyz', FALSE)) AS v(a, s, b);
SELECT DECIMAL '1.5';
SELECT DECIMAL 'x';
SELECT s FROM v WHERE s LIKE ANY ('a%', 'b%');
SELECT s FROM v WHERE s LIKE ALL ('a%', '%c');
SELECT s FROM v WHERE s NOT LIKE ANY ('a%', '%c');
SELECT s FROM v WHERE s NOT LIKE ALL ('a%', '%c');
SELECT s FROM v WHERE s LIKE SOME ('a%', '%c');
SELECT a FROM v WHERE a BETWEEN 1 AND 3 IN (TRUE);
SELECT a FROM v WHERE a BETWEEN 1 AND 3 = b;
SELECT a FROM v WHERE a IN (1, 2) BETWEEN FALSE AND TRUE;
SELECT a FROM v WHERE a + 1 BETWEEN 1 AND 3 AND s LIKE 'a%';
CREATE TABLE nulls (a INT, n NULL) WITH ('connector' = 'datagen');
CREATE TABLE nulls (a INT, n ARRAY<NULL>) WITH ('connector' = 'datagen');
SELECT CAST(NULL AS NULL);
SELECT window_start, COUNT(*) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end;
SELECT a FROM t;
SELECT FIELD(a, 1) FROM v;
SELECT NEGATE(a) FROM v;
SELECT `PLUS`(a) FROM v;
SELECT `AND`(b, b) FROM v;
SELECT `=`(a, a) FROM v;
SELECT `+`(a, a) FROM v;
SELECT ITEM(a, 1) FROM v;
SELECT `CASE`(b, a, a) FROM v;
SELECT `CAST`(a) FROM v;
SELECT `IS NULL`(a) FROM v;
SELECT `LIKE`(s, s) FROM v;
SELECT `NOT`(b) FROM v;
SELECT `ROW`(a, a) FROM v;
SELECT `ARRAY`(a, a) FROM v;
SELECT `BETWEEN`(a, a, a) FROM v;
SELECT `||`(s, s) FROM v;
SELECT `IN`(a, a) FROM v;
SELECT GROUPING(a) FROM v;
SELECT REINTERPRET(a) FROM v;
SELECT `TRY_CAST`(a) FROM v;
SELECT LITERAL_AGG(a) FROM v;
SELECT `MAP`(a, a) FROM v;
SELECT `EXISTS`(a) FROM v;
SELECT `IS DISTINCT FROM`(a, a) FROM v;
SELECT `MINUS_PREFIX`(a) FROM v;
SELECT `-`(a) FROM v;
ADD JAR '{tmp}/nothing.jar';
ADD JAR '{tmp}/in/a.json';
ADD JAR '{tmp}/in';
ADD JAR 'relative.txt';
SHOW JARS;
CREATE VIEW shifted AS SELECT a, ts + INTERVAL '1' SECOND AS later, ts AS same, CAST(ts AS TIMESTAMP(3)) AS casted, COALESCE(ts, ts) AS c FROM t;
DESCRIBE shifted;
SELECT COUNT(*) FROM TUMBLE(TABLE shifted, DESCRIPTOR(later), INTERVAL '1' MINUTE) GROUP BY window_start, window_end;
SELECT COUNT(*) FROM TUMBLE(TABLE shifted, DESCRIPTOR(casted), INTERVAL '1' MINUTE) GROUP BY window_start, window_end;
