-- mode: batch
-- file parts/dt=2024-01-01/hh=1/a.json
--|{"id": 1}
-- file parts/dt=2024-01-02/hh=2/b.json
--|{"id": 2}
CREATE TABLE parts (id INT, dt STRING, hh INT) PARTITIONED BY (dt, hh) WITH ('connector' = 'filesystem', 'path' = '{tmp}/parts', 'format' = 'json');
SELECT * FROM parts ORDER BY id;
SELECT * FROM parts WHERE dt = '2024-01-01';
SELECT hh FROM parts WHERE hh > 1;
CREATE TABLE meta (id INT, `file.name` STRING NOT NULL METADATA, size BIGINT NOT NULL METADATA FROM 'file.size', hh INT) PARTITIONED BY (hh) WITH ('connector' = 'filesystem', 'path' = '{tmp}/parts/dt=2024-01-01', 'format' = 'json');
SELECT * FROM meta;
DESCRIBE meta;
CREATE TABLE written (id INT, name STRING, day_ STRING) PARTITIONED BY (day_) WITH ('connector' = 'filesystem', 'path' = '{tmp}/written', 'format' = 'csv');
INSERT INTO written VALUES (1, 'a', 'mon'), (2, 'b', 'tue'), (3, 'c', 'a/b=c');
SELECT * FROM written ORDER BY id;
INSERT INTO written PARTITION (day_ = 'mon') VALUES (5, 'e');
INSERT INTO written PARTITION (day_ = 'mon') (id) SELECT 6;
SELECT * FROM written WHERE day_ = 'mon' ORDER BY id;
INSERT OVERWRITE written PARTITION (day_ = 'mon') VALUES (7, 'f');
SELECT * FROM written ORDER BY id;
INSERT OVERWRITE written VALUES (8, 'g', 'tue');
SELECT * FROM written ORDER BY id;
CREATE TABLE plain (id INT NOT NULL, name STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp}/plain', 'format' = 'json');
SELECT * FROM plain ORDER BY id;
INSERT INTO plain VALUES (1, 'a');
INSERT INTO plain (name, id) VALUES ('b', 2);
INSERT INTO plain (name) VALUES ('b');
INSERT INTO plain VALUES (CAST(NULL AS INT), 'x');
INSERT INTO plain SELECT CAST(NULL AS INT), 'x' FROM plain;
SELECT * FROM plain ORDER BY id;
INSERT OVERWRITE plain SELECT id + 10, UPPER(name) FROM plain;
SELECT * FROM plain ORDER BY id;
CREATE TABLE rawt (x INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/rawt', 'format' = 'raw');
INSERT INTO rawt VALUES (65), (66);
CREATE TABLE gen (id BIGINT, s STRING, a ARRAY<INT>) WITH ('connector' = 'datagen', 'number-of-rows' = '2', 'fields.id.kind' = 'sequence', 'fields.id.start' = '5', 'fields.id.end' = '9', 'fields.s.length' = '3');
SELECT id, CHAR_LENGTH(s) AS n, CARDINALITY(a) AS c FROM gen;
CREATE TABLE unbounded (id BIGINT) WITH ('connector' = 'datagen');
SELECT * FROM unbounded;
CREATE TABLE p (a INT, s STRING, d DECIMAL(5, 2), ts TIMESTAMP(3), ltz TIMESTAMP_LTZ(3), dt DATE, t TIME(0), arr ARRAY<STRING>, m MAP<STRING, INT>, r ROW<x INT, y STRING>, b BYTES, f FLOAT, g DOUBLE, ok BOOLEAN) WITH ('connector' = 'blackhole');
INSERT INTO p SELECT 1, 'a', 1.5, TIMESTAMP '2024-01-01 00:00:00', TO_TIMESTAMP_LTZ(0, 3), DATE '2024-01-01', TIME '01:02:03', ARRAY['a'], MAP['k', 1], ROW(1, 'a'), x'00', CAST(1 AS FLOAT), 1e0, TRUE;
SELECT 1, 'abc', CAST(NULL AS INT), 1.50, TIMESTAMP '2024-01-01 00:00:00', DATE '2024-01-01', TIME '01:02:03', TO_TIMESTAMP_LTZ(0, 3), x'0102', CAST(1 AS FLOAT), 1e0, TRUE;
SELECT ARRAY['a', 'b'], MAP['k', 1], ROW(1, 'a'), INTERVAL '1' DAY, INTERVAL '1-2' YEAR TO MONTH, CAST('x' AS CHAR(3)), CAST('xy' AS VARCHAR(5)), CAST(1 AS TINYINT), CAST(1 AS SMALLINT), CAST(1 AS BIGINT);
SELECT 'a text that is longer than thirty characters for sure' AS long, '日本語' AS wide, REPEAT('日本', 10) AS wider, '' AS empty_, 'tab	' AS tab, 'line
break' AS nl;
VALUES (1, 'a'), (2, 'b');
SELECT 1 WHERE FALSE;
