-- rows: in any order
-- file t/part.json
--|{"id": 1, "k": "a", "v": 7, "ts": "2024-01-01 00:00:01.000", "ms": 1704067201000}
--|{"id": 2, "k": "b", "v": 4, "ts": "2024-01-01 00:00:04.000", "ms": 1704067204000}
--|{"id": 3, "k": "a", "v": 1, "ts": "2024-01-01 00:00:12.000", "ms": 1704067212000}
--|{"id": 4, "k": "a", "v": 8, "ts": "2024-01-01 00:00:03.000", "ms": 1704067203000}
--|{"id": 5, "k": "b", "v": 5, "ts": "2024-01-01 00:00:11.000", "ms": 1704067211000}
--|{"id": 6, "k": "b", "v": 2, "ts": "2024-01-01 00:00:25.000", "ms": 1704067225000}
--|{"id": 7, "k": "a", "v": 9, "ts": "2024-01-01 00:00:09.000", "ms": 1704067209000}
--|{"id": 8, "k": "a", "v": 6, "ts": "2024-01-01 00:00:14.000", "ms": 1704067214000}
--|{"id": 9, "k": "b", "v": 3, "ts": "2024-01-01 00:00:26.000", "ms": 1704067226000}
--|{"id": 10, "k": "b", "v": 0, "ts": "2024-01-01 00:00:38.000", "ms": 1704067238000}
--|{"id": 11, "k": "a", "v": 7, "ts": "2024-01-01 00:00:33.000", "ms": 1704067233000}
--|{"id": 12, "k": "a", "v": 4, "ts": "2024-01-01 00:00:31.000", "ms": 1704067231000}
--|{"id": 13, "k": "b", "v": 1, "ts": "2024-01-01 00:00:45.000", "ms": 1704067245000}
--|{"id": 14, "k": "a", "v": 8, "ts": "2024-01-01 00:00:07.000", "ms": 1704067207000}
--|{"id": 15, "k": "b", "v": 5, "ts": "2024-01-01 00:00:52.000", "ms": 1704067252000}
-- file n/part.json
--|{"id": 1, "k": "a", "v": 7, "ts": "2024-01-01 00:00:01.000", "ms": 1704067201000}
--|{"id": 2, "k": "b", "v": 4, "ts": "2024-01-01 00:00:04.000", "ms": 1704067204000}
--|{"id": 3, "k": "a", "v": 1, "ts": "2024-01-01 00:00:12.000", "ms": 1704067212000}
--|{"id": 4, "k": "a", "v": 8, "ts": "2024-01-01 00:00:03.000", "ms": 1704067203000}
--|{"id": 5, "k": "b", "v": 5, "ts": "2024-01-01 00:00:11.000", "ms": 1704067211000}
--|{"id": 16, "k": "a", "v": 3, "ts": null, "ms": null}
--|{"id": 6, "k": "b", "v": 2, "ts": "2024-01-01 00:00:25.000", "ms": 1704067225000}
--|{"id": 7, "k": "a", "v": 9, "ts": "2024-01-01 00:00:09.000", "ms": 1704067209000}
--|{"id": 8, "k": "a", "v": 6, "ts": "2024-01-01 00:00:14.000", "ms": 1704067214000}
--|{"id": 17, "k": null, "v": 8, "ts": null, "ms": null}
--|{"id": 9, "k": "b", "v": 3, "ts": "2024-01-01 00:00:26.000", "ms": 1704067226000}
--|{"id": 10, "k": "b", "v": 0, "ts": "2024-01-01 00:00:38.000", "ms": 1704067238000}
--|{"id": 11, "k": "a", "v": 7, "ts": "2024-01-01 00:00:33.000", "ms": 1704067233000}
--|{"id": 12, "k": "a", "v": 4, "ts": "2024-01-01 00:00:31.000", "ms": 1704067231000}
--|{"id": 13, "k": "b", "v": 1, "ts": "2024-01-01 00:00:45.000", "ms": 1704067245000}
--|{"id": 14, "k": "a", "v": 8, "ts": "2024-01-01 00:00:07.000", "ms": 1704067207000}
--|{"id": 15, "k": "b", "v": 5, "ts": "2024-01-01 00:00:52.000", "ms": 1704067252000}
CREATE TABLE z (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp}/t', 'format' = 'json', 'scan.watermark.emit.strategy' = 'on-event');
CREATE TABLE e (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = '{tmp}/t', 'format' = 'json', 'scan.watermark.emit.strategy' = 'on-event');
CREATE TABLE x (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '0.001' SECOND) WITH ('connector' = 'filesystem', 'path' = '{tmp}/t', 'format' = 'json', 'scan.watermark.emit.strategy' = 'on-event');
CREATE TABLE n (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = '{tmp}/n', 'format' = 'json', 'scan.watermark.emit.strategy' = 'on-event');
CREATE TABLE m (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS CASE WHEN v > 3 THEN ts END) WITH ('connector' = 'filesystem', 'path' = '{tmp}/t', 'format' = 'json', 'scan.watermark.emit.strategy' = 'on-event');
CREATE TABLE l (id INT, k STRING, v INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'filesystem', 'path' = '{tmp}/t', 'format' = 'json', 'scan.watermark.emit.strategy' = 'on-event');
CREATE TABLE c (id INT, k STRING, v INT, ts TIMESTAMP(3), later AS ts + INTERVAL '1' MINUTE, WATERMARK FOR later AS later - INTERVAL '2' SECOND) WITH ('connector' = 'filesystem', 'path' = '{tmp}/t', 'format' = 'json', 'scan.watermark.emit.strategy' = 'on-event');
CREATE TABLE f (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts + INTERVAL '3' SECOND) WITH ('connector' = 'filesystem', 'path' = '{tmp}/t', 'format' = 'json', 'scan.watermark.emit.strategy' = 'on-event');
CREATE TABLE d (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS TIMESTAMP '2024-01-01 00:00:30') WITH ('connector' = 'filesystem', 'path' = '{tmp}/t', 'format' = 'json', 'scan.watermark.emit.strategy' = 'on-event');
SELECT window_start, COUNT(*) AS c, SUM(id) AS s FROM TABLE(TUMBLE(TABLE z, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS c, SUM(id) AS s FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS c, SUM(id) AS s FROM TABLE(TUMBLE(TABLE x, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS c, SUM(id) AS s FROM TABLE(TUMBLE(TABLE n, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS c, SUM(id) AS s FROM TABLE(TUMBLE(TABLE m, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS c, SUM(id) AS s FROM TABLE(TUMBLE(TABLE l, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS c, SUM(id) AS s FROM TABLE(TUMBLE(TABLE f, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS c, SUM(id) AS s FROM TABLE(TUMBLE(TABLE d, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS c, SUM(id) AS s FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(later), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT k, window_start, window_end, SUM(id) AS s FROM TABLE(HOP(TABLE z, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
SELECT k, window_start, window_end, SUM(id) AS s FROM TABLE(HOP(TABLE n, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
SELECT window_start, window_end, SUM(id) AS s FROM TABLE(CUMULATE(TABLE z, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, window_end, SUM(id) AS s FROM TABLE(CUMULATE(TABLE n, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT k, window_start, window_end, COUNT(*) AS c FROM TABLE(SESSION(TABLE z PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY k, window_start, window_end;
SELECT k, window_start, window_end, COUNT(*) AS c FROM TABLE(SESSION(TABLE e PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY k, window_start, window_end;
SELECT k, window_start, window_end, COUNT(*) AS c FROM TABLE(SESSION(TABLE n PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY k, window_start, window_end;
SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND) AS s, COUNT(*) AS c FROM z GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);
SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND) AS s, COUNT(*) AS c FROM e GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);
SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND) AS s, COUNT(*) AS c FROM n GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);
SELECT HOP_START(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND) AS s, COUNT(*) AS c FROM z GROUP BY HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND);
SELECT k, SESSION_START(ts, INTERVAL '3' SECOND) AS s, SESSION_END(ts, INTERVAL '3' SECOND) AS e, COUNT(*) AS c FROM z GROUP BY k, SESSION(ts, INTERVAL '3' SECOND);
SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM z;
SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM e;
SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM n;
SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM z;
SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM n;
SELECT id, COUNT(*) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW) AS s FROM z;
SELECT k, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS r FROM z) WHERE r = 1;
SELECT k, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS r FROM z) WHERE r = 1;
SELECT k, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS r FROM n) WHERE r = 1;
SELECT k, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS r FROM n) WHERE r = 1;
SELECT id FROM z ORDER BY ts;
SELECT id FROM e ORDER BY ts;
SELECT id FROM n ORDER BY ts;
SELECT * FROM z MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE B AS B.v > A.v);
SELECT * FROM e MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE B AS B.v > A.v);
SELECT * FROM n MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE B AS B.v > A.v);
SELECT id, CURRENT_WATERMARK(ts) AS w FROM z;
SELECT id, CURRENT_WATERMARK(ts) AS w FROM e;
SELECT id, CURRENT_WATERMARK(ts) AS w FROM n;
SELECT id, CURRENT_WATERMARK(ts) AS w FROM m;
SELECT id, CURRENT_WATERMARK(ts) AS w FROM l;
SELECT id, CURRENT_WATERMARK(ts) AS w FROM f;
SELECT id, CURRENT_WATERMARK(ts) AS w FROM d;
SELECT id, CURRENT_WATERMARK(later) AS w FROM c;
SELECT id FROM z WHERE ts > CURRENT_WATERMARK(ts);
SELECT id FROM e WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts);
SELECT id, window_start, window_time FROM TABLE(TUMBLE(TABLE z, DESCRIPTOR(ts), INTERVAL '10' SECOND));
SELECT id, window_start, window_time FROM TABLE(TUMBLE(TABLE n, DESCRIPTOR(ts), INTERVAL '10' SECOND));
SELECT window_start, k, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC, id) AS r FROM TABLE(TUMBLE(TABLE z, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE r = 1;
SELECT window_start, k, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC, id) AS r FROM TABLE(TUMBLE(TABLE n, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE r = 1;
WITH w AS (SELECT window_time AS wt, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE z, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, window_time) SELECT window_start, SUM(c) AS s FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(wt), INTERVAL '20' SECOND)) GROUP BY window_start, window_end;
WITH w AS (SELECT id, ts FROM z WHERE v > 2) SELECT window_start, COUNT(*) AS c, SUM(id) AS s FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
WITH w AS (SELECT id, ts, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS o FROM z) SELECT window_start, COUNT(*) AS c, SUM(o) AS s FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT * FROM n;
SELECT id, k FROM n WHERE ts IS NULL;
SELECT COUNT(ts) AS c, COUNT(*) AS d FROM n;
