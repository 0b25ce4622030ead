-- mode: batch
-- rows: in any order
-- CSV and JSON that is not as its table, and what is written
-- file blanks.csv
--|1,2024-01-02,10:00:00,2024-01-01 10:00:00
--|2, 2024-01-02,10:00:00,2024-01-01 10:00:00
--|3,2024-01-02, 10:00:00,2024-01-01 10:00:00
--|4,2024-01-02,10:00:00, 2024-01-01 10:00:00 
--|5,2024-01-02 ,10:00:00 ,2024-01-01 10:00:00
--|6,2024-1-2,10:00,2024-01-01T10:00:00
-- file odd.csv
--|1;"a;b";1.50;true;2024-01-01;[x|y]
--|2;'q';,5;FALSE;;
--| 3 ; c ; 2 ;True; 2024-01-02 ;z
--|4;"say ""hi""";-0.0;0;0001-01-01;|
--|5;é😀;1e3;yes;9999-12-31;a|b|c
-- file arr.csv
--|1,x;y,k:1
--|2,,
--|3,;,a
--|4,"p;q",b:2
-- file odd.json
--|{"a": 1, "b": "x", "c": [1, null, 3], "d": {"k": "v", "n": null}, "e": {"x": 1.5, "y": "t"}, "t": "2024-01-01 10:00:00", "z": "2024-01-01 10:00:00Z"}
--|{"a": "2", "b": 5, "c": [], "d": {}, "e": null, "t": null, "z": null}
--|{"b": {"n": [1, 2]}, "c": null, "extra": true, "a": 3.0}
--|{"a": 4, "b": true, "c": ["7", 8.0], "d": {"k": 1}, "e": {"x": "2.50"}, "t": "2024-01-01 10:00:00.123456"}
--|{"a": null, "b": null, "e": {"y": null, "x": null, "q": 1}}
--|{"A": 9, "b": "case"}
-- file wide.json
--|{"s": 127, "d": 1.005, "f": 1e39, "by": "aGk=", "dt": "2024-02-29", "tm": "23:59:59", "bo": "true", "big": 12345678901234567890}
--|{"s": -128, "d": "99.999", "f": -0.0, "by": "", "dt": "1969-12-31", "tm": "00:00:00", "bo": false, "big": 1}
CREATE TABLE odd (id INT, s STRING, d DECIMAL(10, 2), b BOOLEAN, dt DATE, arr ARRAY<STRING>) WITH ('connector'='filesystem','path'='{tmp}/odd.csv','format'='csv','csv.field-delimiter'=';','csv.ignore-parse-errors'='true','csv.array-element-delimiter'='|');
SELECT * FROM odd;
SELECT id, CHAR_LENGTH(s) AS l, d + 1 AS e, NOT b AS n FROM odd;
CREATE TABLE arr (id INT, a ARRAY<STRING>, r ROW<k STRING, v INT>) WITH ('connector'='filesystem','path'='{tmp}/arr.csv','format'='csv','csv.ignore-parse-errors'='true');
SELECT * FROM arr;
SELECT id, CARDINALITY(a) AS c, a[1] AS f, r.k AS k FROM arr;
CREATE TABLE arr2 (id INT, a STRING, r STRING) WITH ('connector'='filesystem','path'='{tmp}/arr.csv','format'='csv','csv.null-literal'='');
SELECT id, a IS NULL AS n, SPLIT_INDEX(a, ';', 1) AS x FROM arr2;
CREATE TABLE oj (a INT, b STRING, c ARRAY<INT>, d MAP<STRING, STRING>, e ROW<x DECIMAL(5, 2), y STRING>, t TIMESTAMP(3), z TIMESTAMP_LTZ(3)) WITH ('connector'='filesystem','path'='{tmp}/odd.json','format'='json');
SELECT * FROM oj;
SELECT a, c[2] AS c2, d['k'] AS k, e.x AS x, e IS NULL AS n, CARDINALITY(d) AS cd FROM oj;
SELECT a, u.v AS v FROM oj CROSS JOIN UNNEST(c) AS u(v);
SELECT a, m.k AS k, m.v AS v FROM oj LEFT JOIN UNNEST(d) AS m(k, v) ON TRUE;
CREATE TABLE wj (s TINYINT, d DECIMAL(4, 2), f FLOAT, `by` BYTES, dt DATE, tm TIME(0), bo BOOLEAN, big DECIMAL(20, 0)) WITH ('connector'='filesystem','path'='{tmp}/wide.json','format'='json');
SELECT * FROM wj;
SELECT s + s AS a, d * d AS b, f / 2 AS c, CAST(`by` AS STRING) AS e, dt + INTERVAL '1' MONTH AS g, tm + INTERVAL '1' SECOND AS h, big + 1 AS i FROM wj;
CREATE TABLE wj2 (s TINYINT, d DECIMAL(4, 2), dt TIMESTAMP(3)) WITH ('connector'='filesystem','path'='{tmp}/wide.json','format'='json','json.ignore-parse-errors'='true');
SELECT * FROM wj2;
CREATE TABLE wj3 (s STRING, d STRING, dt STRING, bo STRING, f STRING) WITH ('connector'='filesystem','path'='{tmp}/wide.json','format'='json');
SELECT * FROM wj3;
CREATE TABLE wj4 (s INT, missing INT) WITH ('connector'='filesystem','path'='{tmp}/wide.json','format'='json','json.fail-on-missing-field'='true');
SELECT * FROM wj4;
CREATE TABLE outj (a INT, m MAP<STRING, INT>, r ROW<x DECIMAL(10, 3), t TIMESTAMP(3)>, arr ARRAY<BOOLEAN>, b BYTES, l TIMESTAMP_LTZ(3), dt DATE, tm TIME(0), f DOUBLE) WITH ('connector'='filesystem','path'='{tmp}/outj','format'='json');
INSERT INTO outj SELECT 1, MAP['k', 1], ROW(CAST(1.5 AS DECIMAL(10, 3)), TIMESTAMP '2024-01-01 00:00:00'), ARRAY[TRUE, CAST(NULL AS BOOLEAN)], x'00ff', TO_TIMESTAMP_LTZ(0, 3), DATE '2024-01-01', TIME '10:00:00', 1e20;
SELECT * FROM outj;
CREATE TABLE outs (line STRING) WITH ('connector'='filesystem','path'='{tmp}/outj','format'='raw');
SELECT * FROM outs;
CREATE TABLE outc (a INT, s STRING, d DECIMAL(10, 2), t TIMESTAMP(3), l TIMESTAMP_LTZ(3), f DOUBLE, b BOOLEAN, arr ARRAY<INT>, r ROW<x INT, y STRING>) WITH ('connector'='filesystem','path'='{tmp}/outc','format'='csv');
INSERT INTO outc SELECT 1, 'a,"b"', 1.5, TIMESTAMP '2024-01-01 00:00:00.120', TO_TIMESTAMP_LTZ(1500, 3), 1e-7, TRUE, ARRAY[1, 2], ROW(1, 'z') UNION ALL SELECT 2, CAST(NULL AS STRING), CAST(NULL AS DECIMAL(10, 2)), TIMESTAMP '2024-01-01 00:00:00', CAST(NULL AS TIMESTAMP_LTZ(3)), 100.0, FALSE, CAST(NULL AS ARRAY<INT>), ROW(2, '');
SELECT * FROM outc;
CREATE TABLE outcs (line STRING) WITH ('connector'='filesystem','path'='{tmp}/outc','format'='raw');
SELECT * FROM outcs;
CREATE VIEW v1 AS SELECT a, b AS name, e.x AS x FROM oj WHERE a IS NOT NULL;
CREATE VIEW v2 (k, total) AS SELECT name, SUM(x) FROM v1 GROUP BY name;
SELECT * FROM v2;
SELECT v.k, v1.a FROM v2 AS v LEFT JOIN v1 ON v.total = v1.x;
SHOW CREATE VIEW v2;
DESCRIBE v2;
ALTER VIEW v1 RENAME TO v9;
SELECT * FROM v2;
DROP VIEW v9;
SELECT * FROM v2;
SELECT CAST('  12 ' AS INT) AS a, CAST('1.9' AS INT) AS b, CAST(' true ' AS BOOLEAN) AS c, TRY_CAST('2024-13-01' AS DATE) AS d, CAST('2024-1-1' AS DATE) AS e, CAST('10:5' AS TIME) AS f;
SELECT CAST(1.005 AS DECIMAL(3, 2)) AS a, CAST(-1.5 AS INT) AS b, CAST(CAST('NaN' AS DOUBLE) AS INT) AS c, CAST(1e30 AS BIGINT) AS d, CAST(300 AS TINYINT) AS e;
SELECT 1 / 3 AS a, 1.0 / 3 AS b, -7 / 2 AS c, -7 % 3 AS d, 7.5 % 2 AS e, 2 * 0.1 AS f, 1e0 / 3 AS g;
SELECT 'a' || NULL || 'b' AS a, CONCAT('a', NULL) AS b, CONCAT_WS(',', 'a', NULL, 'b') AS c, UPPER('straße') AS d, INITCAP('o''neil mc-donald') AS e, LPAD('é😀', 5, '*') AS f, REVERSE('a😀b') AS g;
SELECT TRIM(BOTH 'x' FROM 'xxaxx') AS a, LTRIM('  a ') AS b, SUBSTRING('hello' FROM -3 FOR 2) AS c, SUBSTRING('hello', 0, 3) AS d, POSITION('l' IN 'hello') AS e, OVERLAY('abcdef' PLACING 'XY' FROM 3 FOR 1) AS f, LOCATE('l', 'hello', 4) AS g, REPLACE('aaa', 'a', 'bb') AS h;
SELECT 'abc' LIKE 'a_c' AS a, 'a%c' LIKE 'a!%c' ESCAPE '!' AS b, 'ABC' SIMILAR TO '(A|B)+C' AS c, REGEXP_EXTRACT('foo123', '([a-z]+)(\d+)', 2) AS d, REGEXP('x1', '[0-9]') AS e, REGEXP_REPLACE('a1b2', '\d', '<$0>') AS f;
SELECT GREATEST(1, NULL, 3) AS a, LEAST('b', 'a') AS b, COALESCE(NULL, NULL, 2) AS c, NULLIF('a', 'a') AS d, IFNULL(CAST(NULL AS INT), 5) AS e, IF(NULL, 1, 2) AS f;
SELECT JSON_VALUE('{"a": {"b": [1, 2, {"c": "x"}]}}', '$.a.b[2].c') AS a, JSON_QUERY('{"a": [1, 2]}', '$.a') AS b, JSON_EXISTS('{"a": null}', '$.a') AS c, JSON_VALUE('{"a": 1.50}', '$.a') AS d, JSON_QUERY('{"a": 1}', '$.a' WITH WRAPPER) AS e, IS_JSON_V FROM (VALUES (1)) AS t(IS_JSON_V);
SELECT INTERVAL '1-2' YEAR TO MONTH AS a, INTERVAL '1 02:03:04.567' DAY TO SECOND AS b, DATE '2024-01-31' + INTERVAL '1' MONTH AS c, DATE '2024-02-29' - INTERVAL '1' YEAR AS d, TIMESTAMP '2024-01-01 00:00:00' - INTERVAL '0.001' SECOND AS e;
SELECT TIMESTAMPDIFF(MONTH, DATE '2024-01-31', DATE '2024-02-29') AS a, TIMESTAMPDIFF(DAY, TIMESTAMP '2024-01-01 23:00:00', TIMESTAMP '2024-01-02 22:00:00') AS b, TIMESTAMPADD(WEEK, 2, DATE '2024-01-01') AS c, EXTRACT(WEEK FROM DATE '2021-01-01') AS d, EXTRACT(DOY FROM DATE '2024-12-31') AS e, QUARTER(DATE '2024-12-31') AS f, DAYOFWEEK(DATE '2024-01-07') AS g;
CREATE TABLE blanks (id INT, d DATE, t TIME(0), ts TIMESTAMP(3)) WITH ('connector'='filesystem','path'='{tmp}/blanks.csv','format'='csv','csv.ignore-parse-errors'='true');
SELECT * FROM blanks;
