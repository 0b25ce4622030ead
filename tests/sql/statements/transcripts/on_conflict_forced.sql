-- rows: in any order
-- set parallelism.default=1
-- set table.exec.sink.require-on-conflict=false
-- set table.exec.sink.upsert-materialize=FORCE
-- file events/a.json
--|{"id": 9, "v": "z", "ts": "2024-01-01 00:00:01.000"}
--|{"id": 1, "v": "a", "ts": "2024-01-01 00:00:01.010"}
--|{"id": 2, "v": "b", "ts": "2024-01-01 00:00:01.020"}
--|{"id": 3, "v": "a", "ts": "2024-01-01 00:00:01.030"}
-- file passing/a.json
--|{"id": 9, "v": "z", "ts": "2024-01-01 00:00:01.000"}
--|{"id": 1, "v": "a", "ts": "2024-01-01 00:00:01.010"}
--|{"id": 2, "v": "b", "ts": "2024-01-01 00:00:01.020"}
--|{"id": 3, "v": "a", "ts": "2024-01-01 00:00:01.030"}
--|{"id": 1, "v": "c", "ts": "2024-01-01 00:00:01.040"}
-- file apart/a.json
--|{"id": 1, "v": "a", "ts": "2024-01-01 00:00:01"}
--|{"id": 2, "v": "b", "ts": "2024-01-01 00:00:02"}
--|{"id": 3, "v": "a", "ts": "2024-01-01 00:00:03"}
--|{"id": 1, "v": "c", "ts": "2024-01-01 00:00:04"}
CREATE TABLE events (id INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp}/events', 'format' = 'json');
CREATE TABLE passing (id INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp}/passing', 'format' = 'json');
CREATE TABLE apart (id INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp}/apart', 'format' = 'json');
CREATE TABLE plain (id INT, v STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp}/passing', 'format' = 'json');
CREATE TABLE k (v STRING, id INT, PRIMARY KEY (v) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 'K');
CREATE TABLE k2 (v STRING, w INT, id INT, PRIMARY KEY (v, w) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 'K2');
CREATE TABLE byid (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 'I');
CREATE TABLE nokey (v STRING, id INT) WITH ('connector' = 'print', 'print-identifier' = 'N');
CREATE VIEW newest AS SELECT v, id FROM (SELECT id, MAX(v) AS v FROM events GROUP BY id);
CREATE VIEW newest_passing AS SELECT v, id FROM (SELECT id, MAX(v) AS v FROM passing GROUP BY id);
CREATE VIEW newest_apart AS SELECT v, id FROM (SELECT id, MAX(v) AS v FROM apart GROUP BY id);
CREATE VIEW newest_plain AS SELECT v, id FROM (SELECT id, MAX(v) AS v FROM plain GROUP BY id);
INSERT INTO k SELECT v, id FROM newest;
INSERT INTO k SELECT v, id FROM newest ON CONFLICT DO DEDUPLICATE;
INSERT INTO k SELECT v, id FROM newest ON CONFLICT DO NOTHING;
INSERT INTO byid SELECT id, v FROM newest_passing;
INSERT INTO byid SELECT id, v FROM newest_passing ON CONFLICT DO NOTHING;
