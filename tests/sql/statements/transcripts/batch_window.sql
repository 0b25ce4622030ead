-- mode: batch
-- rows: in any order
-- file e/part.json
--|{"ts": "2024-01-01 00:00:00.000", "k": "a", "v": 1}
--|{"ts": "2024-01-01 00:04:59.999", "k": "a", "v": 2}
--|{"ts": "2024-01-01 00:05:00.000", "k": "b", "v": 3}
--|{"ts": "2024-01-01 00:11:00.000", "k": "a", "v": 4}
--|{"ts": "1969-12-31 23:58:00.000", "k": "b", "v": 5}
--|{"ts": "2024-01-01 00:06:30.000", "k": null, "v": 6}
CREATE TABLE e (ts TIMESTAMP(3), k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/e', 'format' = 'json');
SELECT * FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '5' MINUTES));
SELECT * FROM TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '5' MINUTES);
SELECT window_start, window_end, k, SUM(v) AS s, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end, k;
SELECT window_start, SUM(v) FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '1' MINUTES)) GROUP BY window_start, window_end;
SELECT window_start, window_end, SUM(v) AS s FROM TABLE(HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;
SELECT window_start, window_end, SUM(v) AS s FROM TABLE(CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL '2' MINUTES, INTERVAL '6' MINUTES)) GROUP BY window_start, window_end;
SELECT window_start, window_end, window_time, k, v FROM TABLE(HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '4' MINUTES, INTERVAL '6' MINUTES));
SELECT window_start, window_end, SUM(v) AS s FROM TABLE(SESSION(TABLE e, DESCRIPTOR(ts), INTERVAL '2' MINUTES)) GROUP BY window_start, window_end;
SELECT window_start, window_end, k, SUM(v) AS s FROM TABLE(SESSION(TABLE e PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end, k;
SELECT window_start, window_end, k, COUNT(*) FROM TABLE(TUMBLE(DATA => TABLE e, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' HOUR)) GROUP BY GROUPING SETS ((window_start, window_end, k), (window_start, window_end));
SELECT window_start, k, rn FROM (SELECT window_start, k, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS rn FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' MINUTES))) WHERE rn = 1;
SELECT TUMBLE_START(ts, INTERVAL '5' MINUTE) AS ws, TUMBLE_END(ts, INTERVAL '5' MINUTE) AS we, k, SUM(v) AS s FROM e GROUP BY TUMBLE(ts, INTERVAL '5' MINUTE), k;
SELECT HOP_START(ts, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) AS ws, SUM(v) AS s FROM e GROUP BY HOP(ts, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE);
SELECT SESSION_START(ts, INTERVAL '2' MINUTE) AS ws, SESSION_END(ts, INTERVAL '2' MINUTE) AS we, SUM(v) AS s FROM e GROUP BY SESSION(ts, INTERVAL '2' MINUTE);
SELECT a.window_start, a.v AS av, b.v AS bv FROM (SELECT * FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) WHERE k = 'a') a JOIN (SELECT * FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) WHERE k = 'b') b ON a.window_start = b.window_start AND a.window_end = b.window_end;
SELECT window_start, COUNT(DISTINCT k) AS dk, MAX(ts) AS mx FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end;
SELECT window_end FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(nope), INTERVAL '5' MINUTES));
SELECT * FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(k), INTERVAL '5' MINUTES));
SELECT * FROM TABLE(HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '4' MINUTES));
SELECT * FROM TABLE(CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL '4' MINUTES, INTERVAL '6' MINUTES));
SELECT window_start, window_end, COUNT(*) FROM TABLE(HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '4' MINUTES, INTERVAL '6' MINUTES)) GROUP BY window_start, window_end;
SELECT window_start, window_end, k FROM TABLE(HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '6' MINUTES, INTERVAL '4' MINUTES));
SELECT window_start, window_end, k FROM TABLE(CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL '3' MINUTES, INTERVAL '7' MINUTES));
