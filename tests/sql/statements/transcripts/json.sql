-- mode: batch
-- file plain/a.json
--|{"id": 1, "name": "ann", "price": 1.50, "ok": true, "d": "2024-02-29", "t": "12:34:56", "ts": "2024-02-29 12:34:56.789", "ltz": "2024-02-29 12:34:56.789Z", "bin": "aGk=", "arr": [1, null, 3], "m": {"k": 1, "l": null}, "r": {"a": 1, "b": "x"}}
--|{"id": "2", "name": 5, "price": "2.345", "ok": "TRUE"}
--|{"id": null, "name": {"x": [1, 2.50, "é"]}, "ok": 1, "extra": 1}
--|{"id": 4, "name": [1, "a"], "price": 12345678.9, "arr": [], "m": {}, "r": {"b": "only"}}
--|{"id": 5, "name": true, "price": 1e2, "r": null}
-- file types/a.json
--|{"a": 1, "b": 2, "c": 3, "e": 1.5, "f": 2.5}
--|{"a": "1", "b": " 2 ", "c": "3", "e": "1.5", "f": "NaN"}
--|{"a": -128, "b": 32767, "c": 9223372036854775807, "e": 1e40, "f": 1}
-- file bad1/a.json
--|{"id": 1}
--|{"id": "x"}
--|{"id": 3}
-- file bad2/a.json
--|{"id": 1}
--|not json
--|{"id": 3}
-- file bad3/a.json
--|{"id": 99999999999}
-- file bad4/a.json
--|{"id": 1.9}
-- file bad5/a.json
--|{"id": [1]}
-- file bad6/a.json
--|{"id": 1}
--|
--|{"id": 3}
-- file bad7/a.json
--|[{"id": 1}, {"id": 2}]
-- file bad8/a.json
--|{"id": 1} trailing
-- file bad9/a.json
--|{"d": "2024-2-9"}
-- file dup/a.json
--|{"id": 1, "id": 2}
--|{"ID": 3}
-- file iso/a.json
--|{"ts": "2024-02-29T12:34:56.789", "ltz": "2024-02-29T12:34:56Z", "t": "12:34:56.5"}
CREATE TABLE plain (id INT, name STRING, price DECIMAL(6, 2), ok BOOLEAN, d DATE, t TIME(0), ts TIMESTAMP(3), ltz TIMESTAMP_LTZ(3), bin BYTES, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<a INT, b STRING>) WITH ('connector' = 'filesystem', 'path' = '{tmp}/plain', 'format' = 'json');
SELECT id, name, price, ok FROM plain;
SELECT d, t, ts, ltz, bin FROM plain;
SELECT arr, m, r FROM plain;
CREATE TABLE types (a TINYINT, b SMALLINT, c BIGINT, e FLOAT, f DOUBLE) WITH ('connector' = 'filesystem', 'path' = '{tmp}/types', 'format' = 'json');
SELECT * FROM types;
CREATE TABLE b1 (id INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/bad1', 'format' = 'json');
SELECT * FROM b1;
SELECT * FROM b1 /*+ OPTIONS('json.ignore-parse-errors' = 'true') */;
CREATE TABLE b2 (id INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/bad2', 'format' = 'json');
SELECT * FROM b2;
SELECT * FROM b2 /*+ OPTIONS('json.ignore-parse-errors' = 'true') */;
CREATE TABLE b3 (id INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/bad3', 'format' = 'json');
SELECT * FROM b3;
SELECT * FROM b3 /*+ OPTIONS('json.ignore-parse-errors' = 'true') */;
CREATE TABLE b4 (id INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/bad4', 'format' = 'json');
SELECT * FROM b4;
CREATE TABLE b5 (id INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/bad5', 'format' = 'json');
SELECT * FROM b5;
CREATE TABLE b6 (id INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/bad6', 'format' = 'json');
SELECT * FROM b6;
SELECT * FROM b6 /*+ OPTIONS('json.ignore-parse-errors' = 'true') */;
CREATE TABLE b7 (id INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/bad7', 'format' = 'json');
SELECT * FROM b7;
CREATE TABLE b8 (id INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/bad8', 'format' = 'json');
SELECT * FROM b8;
CREATE TABLE b9 (d DATE) WITH ('connector' = 'filesystem', 'path' = '{tmp}/bad9', 'format' = 'json');
SELECT * FROM b9;
CREATE TABLE missing (id INT, other STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp}/dup', 'format' = 'json');
SELECT * FROM missing;
SELECT * FROM missing /*+ OPTIONS('json.fail-on-missing-field' = 'true') */;
CREATE TABLE iso (ts TIMESTAMP(3), ltz TIMESTAMP_LTZ(3), t TIME(3)) WITH ('connector' = 'filesystem', 'path' = '{tmp}/iso', 'format' = 'json');
SELECT * FROM iso;
SELECT * FROM iso /*+ OPTIONS('json.timestamp-format.standard' = 'ISO-8601') */;
CREATE TABLE out_json (id INT, name STRING, price DECIMAL(6, 2), f DOUBLE, g FLOAT, ok BOOLEAN, d DATE, t TIME(0), ts TIMESTAMP(3), ltz TIMESTAMP_LTZ(3), bin BYTES, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<a INT, b STRING>) WITH ('connector' = 'filesystem', 'path' = '{tmp}/out', 'format' = 'json');
INSERT INTO out_json VALUES (1, 'a"b\é', 1.5, 1.0, CAST(0.1 AS FLOAT), TRUE, DATE '2024-02-29', TIME '12:34:56', TIMESTAMP '2024-02-29 12:34:56.700', TO_TIMESTAMP_LTZ(1709210096789, 3), x'6869', ARRAY[1, 2], MAP['k', 1], ROW(1, 'x')), (CAST(NULL AS INT), CAST(NULL AS STRING), 100, 1e20, CAST(1e10 AS FLOAT), FALSE, CAST(NULL AS DATE), TIME '00:00:00', TIMESTAMP '2024-02-29 00:00:00', TO_TIMESTAMP_LTZ(0, 3), x'', CAST(NULL AS ARRAY<INT>), MAP['k', CAST(NULL AS INT)], ROW(CAST(NULL AS INT), CAST(NULL AS STRING)));
CREATE TABLE out_json_raw (line STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp}/out', 'format' = 'raw');
SELECT SUBSTRING(line, 1, 28) AS a, SUBSTRING(line, 29, 28) AS b, SUBSTRING(line, 57, 28) AS c, SUBSTRING(line, 85, 28) AS d, SUBSTRING(line, 113, 28) AS e, SUBSTRING(line, 141, 28) AS f, SUBSTRING(line, 169, 28) AS g, SUBSTRING(line, 197, 28) AS h, SUBSTRING(line, 225, 28) AS i FROM out_json_raw;
CREATE TABLE out_iso (ts TIMESTAMP(6), ltz TIMESTAMP_LTZ(3), x INT, p DECIMAL(20, 2), m MAP<STRING, INT>) WITH ('connector' = 'filesystem', 'path' = '{tmp}/out_iso', 'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601', 'json.encode.decimal-as-plain-number' = 'true', 'json.encode.ignore-null-fields' = 'true', 'json.map-null-key.mode' = 'LITERAL', 'json.map-null-key.literal' = 'NK');
INSERT INTO out_iso VALUES (TIMESTAMP '2024-02-29 12:34:56.1', TO_TIMESTAMP_LTZ(0, 3), CAST(NULL AS INT), 100000000000, MAP['k', 1]);
CREATE TABLE out_iso_raw (line STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp}/out_iso', 'format' = 'raw');
SELECT SUBSTRING(line, 1, 28) AS a, SUBSTRING(line, 29, 28) AS b, SUBSTRING(line, 57, 28) AS c, SUBSTRING(line, 85, 28) AS d, SUBSTRING(line, 113, 28) AS e, SUBSTRING(line, 141, 28) AS f FROM out_iso_raw;
