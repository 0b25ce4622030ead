-- mode: batch
-- rows: in any order
-- joins, aggregates, ranks and windows of tables
-- file ev.csv
--|1,a,10,2024-03-31 00:30:00
--|2,b,,2024-03-31 00:59:59.999
--|3,a,-5,2024-03-31 01:30:00
--|4,,7,2024-03-31 01:10:00
--|5,b,20,2024-03-31 03:00:00
--|6,a,10,2024-03-31 03:00:01
--|7,c,0,2024-10-27 00:30:00
--|8,a,3,2024-10-27 01:30:00
--|9,b,4,2024-10-27 02:30:00
-- file ch.json
--|{"before": null, "after": {"id": 1, "k": "a", "v": 5}, "op": "c"}
--|{"before": null, "after": {"id": 2, "k": "b", "v": 7}, "op": "c"}
--|{"before": {"id": 1, "k": "a", "v": 5}, "after": {"id": 1, "k": "b", "v": 6}, "op": "u"}
--|{"before": null, "after": {"id": 3, "k": null, "v": null}, "op": "c"}
--|{"before": {"id": 2, "k": "b", "v": 7}, "after": null, "op": "d"}
--|{"before": null, "after": {"id": 4, "k": "a", "v": 1}, "op": "c"}
--|{"before": {"id": 3, "k": null, "v": null}, "after": {"id": 3, "k": "a", "v": 9}, "op": "u"}
CREATE TABLE ev (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR) WITH ('connector'='filesystem','path'='{tmp}/ev.csv','format'='csv','csv.null-literal'='');
CREATE TABLE ch (id INT, k STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='filesystem','path'='{tmp}/ch.json','format'='debezium-json');
SELECT k, COUNT(*) AS c, SUM(v) AS s, AVG(v) AS a, MIN(v) AS mi, MAX(v) AS ma FROM ch GROUP BY k;
SELECT k, COUNT(DISTINCT v) AS c, LISTAGG(CAST(v AS STRING)) AS l FROM ch GROUP BY k;
SELECT SUM(v) FILTER (WHERE k = 'a') AS a, COUNT(*) FILTER (WHERE v > 5) AS b FROM ch;
SELECT k, FIRST_VALUE(v) AS f, LAST_VALUE(v) AS l FROM ch GROUP BY k;
SELECT * FROM (SELECT id, k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM ch) WHERE rn <= 1;
SELECT * FROM (SELECT id, k, v, ROW_NUMBER() OVER (ORDER BY v DESC NULLS LAST, id) AS rn FROM ch) WHERE rn <= 2;
SELECT c, COUNT(*) AS n FROM (SELECT k, COUNT(*) AS c FROM ch GROUP BY k) GROUP BY c;
SELECT DISTINCT k FROM ch;
SELECT k FROM ch UNION SELECT k FROM ev WHERE v > 5;
SELECT k FROM ch INTERSECT SELECT k FROM ev;
SELECT k FROM ch EXCEPT SELECT k FROM ev WHERE id > 6;
SELECT id FROM ch WHERE k NOT IN (SELECT k FROM ev WHERE k IS NOT NULL AND v > 15);
SELECT id, v FROM ch c WHERE EXISTS (SELECT 1 FROM ev e WHERE e.k = c.k AND e.v > 15);
SELECT id, (SELECT MAX(v) FROM ev e WHERE e.k = c.k) AS m FROM ch c;
SELECT window_start, k, SUM(v) AS s, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, GROUPING SETS ((k), ());
SELECT window_start, window_end, COUNT(DISTINCT k) AS d, MAX(v) AS m FROM TABLE(HOP(TABLE ev, DESCRIPTOR(ts), INTERVAL '30' MINUTE, INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
SELECT window_start, window_end, SUM(v) AS s FROM TABLE(CUMULATE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY)) GROUP BY window_start, window_end HAVING SUM(v) > 20;
SELECT k, window_start, window_end, COUNT(*) AS c FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' HOUR)) GROUP BY k, window_start, window_end;
SELECT * FROM (SELECT k, v, window_start, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS rn FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' DAY))) WHERE rn <= 2;
SELECT ws, SUM(s) AS t FROM (SELECT window_start AS ws, window_end AS we, window_time AS wt, k, SUM(v) AS s FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '30' MINUTE)) GROUP BY window_start, window_end, window_time, k) GROUP BY ws;
SELECT window_start, SUM(s) AS t FROM TABLE(TUMBLE((SELECT window_time AS wt, k, SUM(v) AS s FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '30' MINUTE)) GROUP BY window_start, window_end, window_time, k), DESCRIPTOR(wt), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
SELECT id, COUNT(*) OVER w AS c, LAG(v) OVER w AS p, FIRST_VALUE(id) OVER w AS f FROM ev WINDOW w AS (PARTITION BY k ORDER BY ts);
SELECT a.id, b.id AS bid FROM ev a JOIN ev b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '3' HOUR AND a.id <> b.id;
SELECT a.id, b.id AS bid FROM ev a LEFT JOIN ev b ON a.k = b.k AND b.ts BETWEEN a.ts + INTERVAL '1' SECOND AND a.ts + INTERVAL '1' HOUR;
SELECT c.id, e.id AS eid FROM ch c LEFT JOIN (SELECT id, k FROM ev WHERE id > 5) e ON c.k = e.k;
SELECT COALESCE(c.id, -1) AS i, COALESCE(e.k, 'none') AS k FROM ch c FULL JOIN (SELECT k, MAX(v) AS m FROM ev GROUP BY k) e ON c.k = e.k AND c.v < e.m;
SELECT * FROM ev MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(A.id) AS f, LAST(B.id) AS l, COUNT(B.id) AS n ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+?) DEFINE B AS B.v < A.v OR B.v IS NULL);
SELECT id, CASE WHEN v IS NULL THEN 'n' WHEN v > 5 THEN 'big' ELSE 'small' END AS c, NULLIF(v, 10) AS n, COALESCE(v, id) AS o FROM ev;
SELECT k, SUM(CASE WHEN v > 0 THEN 1 ELSE 0 END) AS p, COUNT(NULLIF(v, 10)) AS n FROM ev GROUP BY k HAVING COUNT(*) > 1;
SELECT id, DATE_FORMAT(ts, 'yyyy-MM-dd HH') AS h, EXTRACT(DOW FROM ts) AS d, FLOOR(ts TO DAY) AS f, TIMESTAMPDIFF(MINUTE, TIMESTAMP '2024-03-31 00:00:00', ts) AS m FROM ev WHERE id < 5;
SELECT k, JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE v) AS j FROM ch WHERE k IS NOT NULL GROUP BY k;
SELECT k, JSON_ARRAYAGG(v NULL ON NULL) AS j FROM ch GROUP BY k;
SELECT k, ARRAY_AGG(v) AS j FROM ch GROUP BY k;
SELECT k, COLLECT(v) AS j FROM ch GROUP BY k;
SELECT id, x, n FROM ch LEFT JOIN UNNEST(CASE WHEN v > 5 THEN ARRAY[k, 'z'] END) WITH ORDINALITY AS u(x, n) ON TRUE;
SELECT k, STDDEV_POP(v) AS a, VAR_SAMP(v) AS b FROM ch GROUP BY k;
SELECT k, APPROX_COUNT_DISTINCT(v) AS a FROM ch GROUP BY k;
SELECT GROUPING(k) AS g, k, SUM(v) AS s FROM ch GROUP BY ROLLUP (k);
SELECT k, v, COUNT(*) AS c, GROUPING_ID(k, v) AS g FROM ch GROUP BY CUBE (k, v);
WITH x AS (SELECT k, SUM(v) AS s FROM ch GROUP BY k) SELECT a.k, a.s, b.s AS t FROM x a JOIN x b ON a.s < b.s;
SELECT MAX(c) AS m FROM (SELECT k, COUNT(*) AS c FROM ch GROUP BY k);
SELECT s, COUNT(*) AS n FROM (SELECT k, CASE WHEN SUM(v) > 10 THEN 'hi' ELSE 'lo' END AS s FROM ch GROUP BY k) GROUP BY s;
SELECT id, v FROM ch WHERE v > (SELECT AVG(v) FROM ev);
