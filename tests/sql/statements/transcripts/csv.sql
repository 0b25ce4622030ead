-- mode: batch
-- file plain/a.csv
--|1,ann,1.50,true,2024-02-29,12:34:56,2024-02-29 12:34:56.789,2024-02-29 12:34:56.789Z,aGk=,1;2;3,4;x
--|2,"b,b",,false,,,,,,,
--| 3 , c , 2.345 ,1,2024-03-01,01:02:03,2024-03-01 00:00:00,2024-03-01 00:00:00Z,,1,5;y
-- file typed/a.csv
--| c ,2.345,2024-03-01,01:02:03,2024-03-01 00:00:00,2024-03-01 00:00:00Z,1.5,2.5,abcd,xyz,1,2,3
--|"q", 1.5 , 2024-3-1 ,01:02,2024-03-01 00:00:00.123456,2024-03-01 01:00:00.5Z, 1e40 , NaN ,a,x, -1 ,+2, 3 
-- file empties/a.csv
--|,,,
-- file short/a.csv
--|1,a
--|2
--|3,c,d
--|
--|4,"x
--|y"
-- file bad/a.csv
--|1,a
--|x,b
--|3,c
-- file nulls/a.csv
--|1,NIL
--|NIL,"NIL"
--|3,
-- file semi/a.csv
--|# comment
--|1;'it''s';x
--|2;a\;b;y
-- file quotes/a.csv
--|1,"a""b"
--|2,a"b
--|3,"open
CREATE TABLE plain (id INT, name STRING, price DECIMAL(6, 2), ok BOOLEAN, d DATE, t TIME(0), ts TIMESTAMP(3), ltz TIMESTAMP_LTZ(3), bin BYTES, arr ARRAY<INT>, r ROW<a INT, b STRING>) WITH ('connector' = 'filesystem', 'path' = '{tmp}/plain', 'format' = 'csv');
SELECT id, name, ok FROM plain;
SELECT id, price FROM plain;
SELECT id, d FROM plain;
CREATE TABLE typed (s STRING, p DECIMAL(6, 2), d DATE, t TIME(0), ts TIMESTAMP(3), ltz TIMESTAMP_LTZ(3), f FLOAT, g DOUBLE, c CHAR(3), v VARCHAR(2), ti TINYINT, si SMALLINT, l BIGINT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/typed', 'format' = 'csv');
SELECT s, p, d, t, ts, ltz FROM typed;
SELECT f, g, c, v, ti, si, l FROM typed;
CREATE TABLE empties (a INT, s STRING, f DOUBLE, o BOOLEAN) WITH ('connector' = 'filesystem', 'path' = '{tmp}/empties', 'format' = 'csv');
SELECT s FROM empties;
SELECT a FROM empties;
SELECT f FROM empties;
SELECT o FROM empties;
SELECT a, f, o FROM empties /*+ OPTIONS('csv.ignore-parse-errors' = 'true') */;
SELECT id, bin, arr, r FROM plain;
CREATE TABLE short (id INT, name STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp}/short', 'format' = 'csv');
SELECT * FROM short;
SELECT * FROM short /*+ OPTIONS('csv.ignore-parse-errors' = 'true') */;
CREATE TABLE bad (id INT, name STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp}/bad', 'format' = 'csv');
SELECT * FROM bad;
SELECT * FROM bad /*+ OPTIONS('csv.ignore-parse-errors' = 'true') */;
CREATE TABLE nulls (id INT, name STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp}/nulls', 'format' = 'csv', 'csv.null-literal' = 'NIL');
SELECT * FROM nulls;
CREATE TABLE semi (id INT, name STRING, last STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp}/semi', 'format' = 'csv', 'csv.field-delimiter' = ';', 'csv.quote-character' = '''', 'csv.allow-comments' = 'true', 'csv.escape-character' = '\');
SELECT * FROM semi;
CREATE TABLE quotes (id INT, name STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp}/quotes', 'format' = 'csv');
SELECT * FROM quotes;
SELECT * FROM quotes /*+ OPTIONS('csv.disable-quote-character' = 'true') */;
CREATE TABLE out_csv (id INT, name STRING, price DECIMAL(6, 2), f DOUBLE, ok BOOLEAN, d DATE, t TIME(0), ts TIMESTAMP(3), ltz TIMESTAMP_LTZ(3), bin BYTES, arr ARRAY<INT>, r ROW<a INT, b STRING>) WITH ('connector' = 'filesystem', 'path' = '{tmp}/out', 'format' = 'csv');
INSERT INTO out_csv VALUES (1, 'a"b', 1.5, 1.0, TRUE, DATE '2024-02-29', TIME '12:34:56', TIMESTAMP '2024-02-29 12:34:56.700', TO_TIMESTAMP_LTZ(1709210096789, 3), x'6869', ARRAY[1, 2], ROW(1, 'x')), (2, CAST(NULL AS STRING), 100, 1e20, FALSE, CAST(NULL AS DATE), TIME '00:00:00', TIMESTAMP '2024-02-29 00:00:00', TO_TIMESTAMP_LTZ(0, 3), x'', CAST(NULL AS ARRAY<INT>), ROW(CAST(NULL AS INT), CAST(NULL AS STRING))), (3, '', 1, 1, TRUE, DATE '2024-02-29', TIME '12:34:56', TIMESTAMP '2024-02-29 12:34:56', TO_TIMESTAMP_LTZ(0, 3), x'00', ARRAY[3], ROW(2, 'a,b'));
CREATE TABLE out_raw (line STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp}/out', 'format' = 'raw');
SELECT SUBSTRING(line, 1, 28) AS a, SUBSTRING(line, 29, 28) AS b, SUBSTRING(line, 57, 28) AS c, SUBSTRING(line, 85, 28) AS d, SUBSTRING(line, 113, 28) AS e FROM out_raw;
CREATE TABLE out3 (p DECIMAL(20, 2), q DECIMAL(20, 0), r DECIMAL(10, 5)) WITH ('connector' = 'filesystem', 'path' = '{tmp}/out3', 'format' = 'csv');
INSERT INTO out3 VALUES (100000, 100, 0.00001), (1.50, 0, 100);
CREATE TABLE out3_raw (line STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp}/out3', 'format' = 'raw');
SELECT * FROM out3_raw;
CREATE TABLE out2 (a STRING, b STRING, c ARRAY<STRING>, p DECIMAL(20, 2)) WITH ('connector' = 'filesystem', 'path' = '{tmp}/out2', 'format' = 'csv', 'csv.field-delimiter' = '|', 'csv.null-literal' = 'N', 'csv.array-element-delimiter' = '/', 'csv.quote-character' = '''', 'csv.write-bigdecimal-in-scientific-notation' = 'false');
INSERT INTO out2 VALUES ('a|b', CAST(NULL AS STRING), ARRAY['x', 'y'], 100000), ('N', 'it''s', ARRAY['x/y'], 0.5), ('with space', 'line
break', CAST(NULL AS ARRAY<STRING>), 1);
CREATE TABLE out2_raw (line STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp}/out2', 'format' = 'raw');
SELECT * FROM out2_raw;
