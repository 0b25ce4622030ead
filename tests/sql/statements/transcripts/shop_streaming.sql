-- mode: streaming
-- set parallelism.default=1
-- file orders/a.csv
--|1,ann,tea,2,3.50,2024-03-01 10:00:01
--|2,bob,cake,1,4.20,2024-03-01 10:00:04
--|3,ann,tea,5,3.50,2024-03-01 10:00:12
--|4,cid,milk,,1.10,2024-03-01 10:00:09
--|5,bob,tea,3,3.40,2024-03-01 10:01:02
--|6,ann,cake,1,4.30,2024-03-01 10:01:40
--|7,dee,milk,7,1.05,2024-03-01 10:02:05
--|8,,tea,1,3.60,2024-03-01 10:02:33
--|9,bob,milk,2,1.20,2024-03-01 10:03:59
--|10,ann,tea,4,3.55,2024-03-01 10:05:00
-- file users/a.json
--|{"name": "ann", "city": "Rome", "tags": ["a", "b"], "attrs": {"vip": "1", "lang": "it"}, "addr": {"street": "Via 1", "zip": 100}}
--|{"name": "bob", "city": "Oslo", "tags": [], "attrs": {"lang": "no"}, "addr": {"street": null, "zip": 200}}
--|{"name": "cid", "city": "Oslo", "tags": ["c"], "attrs": null, "addr": null}
--|{"name": "eve", "city": null, "tags": null, "attrs": {"vip": "0"}, "addr": {"street": "Road", "zip": null}}
CREATE TABLE orders (id INT, name STRING, item STRING, qty INT, price DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = '{tmp}/orders', 'format' = 'csv', 'csv.null-literal' = '');
CREATE TABLE users (name STRING, city STRING, tags ARRAY<STRING>, attrs MAP<STRING, STRING>, addr ROW<street STRING, zip INT>) WITH ('connector' = 'filesystem', 'path' = '{tmp}/users', 'format' = 'json');
SELECT * FROM orders;
SELECT name, COUNT(*) AS n, SUM(qty * price) AS total, AVG(price) AS avg_price, MAX(ts) AS latest FROM orders GROUP BY name;
SELECT item, COUNT(DISTINCT name) AS buyers, SUM(qty) FILTER (WHERE price > 3) AS q FROM orders GROUP BY item HAVING COUNT(*) > 2;
SELECT u.name, tag FROM users u CROSS JOIN UNNEST(u.tags) AS t(tag);
SELECT u.name, t.tag, t.pos FROM users u CROSS JOIN UNNEST(u.tags) WITH ORDINALITY AS t(tag, pos);
SELECT u.name, k, v FROM users u LEFT JOIN UNNEST(u.attrs) AS t(k, v) ON TRUE;
SELECT name, addr.street, addr.zip + 1, users.addr.zip FROM users WHERE addr IS NOT NULL;
SELECT name, attrs['vip'], attrs['none'], CARDINALITY(attrs), CARDINALITY(tags), tags[1], tags[2] FROM users;
SELECT name, addr.* FROM users;
SELECT window_start, window_end, item, SUM(qty) AS q, COUNT(*) AS n FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end, item;
SELECT window_start, window_end, SUM(qty) AS q FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, window_end, SUM(qty) AS q FROM TABLE(TUMBLE(DATA => TABLE orders, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' MINUTE, `OFFSET` => INTERVAL '-10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, window_end, COUNT(DISTINCT name) AS n FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE, INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, window_end, SUM(price) AS p FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE)) GROUP BY window_start, window_end;
SELECT window_start, window_end, window_time, name, COUNT(*) FROM TABLE(SESSION(TABLE orders PARTITION BY name, DESCRIPTOR(ts), INTERVAL '40' SECOND)) GROUP BY window_start, window_end, window_time, name;
SELECT * FROM (SELECT window_start, window_end, item, SUM(qty) AS q, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY SUM(qty) DESC) AS rn FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '2' MINUTE)) GROUP BY window_start, window_end, item) WHERE rn <= 1;
SELECT id, name, SUM(qty) OVER (PARTITION BY name ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s, COUNT(*) OVER (PARTITION BY name ORDER BY ts) AS c FROM orders;
SELECT id, SUM(qty) OVER w AS s, AVG(price) OVER w AS a, MIN(item) OVER w AS m FROM orders WINDOW w AS (PARTITION BY item ORDER BY ts RANGE BETWEEN INTERVAL '2' MINUTE PRECEDING AND CURRENT ROW);
SELECT id, LAG(price) OVER (PARTITION BY item ORDER BY ts) AS before, LAG(price, 2, CAST(0 AS DECIMAL(10, 2))) OVER (PARTITION BY item ORDER BY ts) AS b2 FROM orders;
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC, id) AS rn FROM orders) WHERE rn <= 2;
SELECT id, name, item FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY name ORDER BY ts DESC) AS rn FROM orders) WHERE rn = 1;
SELECT id, name, item FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY name ORDER BY ts) AS rn FROM orders) WHERE rn = 1;
SELECT a.id, b.id FROM orders a JOIN orders b ON a.name = b.name AND a.id < b.id AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '2' MINUTE;
SELECT item, CASE WHEN SUM(qty) > 10 THEN 'many' WHEN SUM(qty) > 5 THEN 'some' ELSE 'few' END AS how FROM orders GROUP BY item;
SELECT name, item, SUM(qty), GROUPING(name), GROUPING_ID(name, item) FROM orders GROUP BY GROUPING SETS ((name), (item), ());
SELECT name, item, COUNT(*) FROM orders GROUP BY CUBE (name, item);
SELECT item, LISTAGG(name, '|') AS names, COLLECT(qty) AS qs, ARRAY_AGG(id) AS ids FROM orders GROUP BY item;
SELECT item, FIRST_VALUE(price) AS f, LAST_VALUE(price) AS l, MIN(qty), STDDEV_SAMP(price) FROM orders GROUP BY item;
SELECT DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm') AS minute_of, COUNT(*) FROM orders GROUP BY DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm');
SELECT id, EXTRACT(SECOND FROM ts), FLOOR(ts TO MINUTE), CEIL(ts TO HOUR), TIMESTAMPDIFF(SECOND, TIMESTAMP '2024-03-01 10:00:00', ts), ts + INTERVAL '1' DAY FROM orders WHERE id < 4;
SELECT * FROM orders ORDER BY ts LIMIT 3;
SELECT * FROM orders ORDER BY ts;
SELECT id, price FROM orders ORDER BY price DESC LIMIT 3;
SELECT DISTINCT item FROM orders;
SELECT COUNT(*), SUM(qty), MAX(price) FROM orders;
SELECT T.* FROM orders MATCH_RECOGNIZE (PARTITION BY name ORDER BY ts MEASURES A.id AS a_id, LAST(B.id) AS b_id, SUM(B.qty) AS q ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C) DEFINE B AS B.qty >= 1, C AS C.price > 3.5) AS T;
CREATE VIEW per_item AS SELECT item, COUNT(*) AS n, SUM(qty) AS q FROM orders GROUP BY item;
CREATE VIEW top_item AS SELECT item, n FROM per_item WHERE n > (SELECT MIN(n) FROM per_item);
SELECT JSON_OBJECT('name' VALUE name, 'city' VALUE city NULL ON NULL, 'zip' VALUE addr.zip ABSENT ON NULL) FROM users;
SELECT JSON_OBJECT('name' VALUE name, 'city' VALUE city, 'tags' VALUE tags) FROM users;
SELECT city, JSON_ARRAYAGG(name) AS j, JSON_OBJECTAGG(KEY name VALUE addr.zip) AS o FROM users GROUP BY city;
SELECT name, JSON_VALUE('{"a": {"b": [1, 2, "x"]}}', '$.a.b[1]' RETURNING INT), JSON_QUERY('{"a": {"b": [1, 2]}}', '$.a.b'), JSON_EXISTS('{"a": 1}', '$.b') FROM users;
SELECT ARRAY_CONTAINS(tags, 'a'), ARRAY_DISTINCT(tags), ARRAY_JOIN(tags, '-', 'none'), ARRAY_REVERSE(tags), MAP_KEYS(attrs), MAP_VALUES(attrs), MAP_ENTRIES(attrs) FROM users;
SELECT name, ROW(name, city), (name, 1), ARRAY[name, city], MAP[name, city] FROM users;
SELECT CAST(ROW(1, 'a') AS ROW<x BIGINT, y STRING>).y, CAST(ARRAY[1, 2] AS ARRAY<STRING>), CAST(MAP['1', 2] AS MAP<INT, DOUBLE>);
SELECT CAST(tags AS STRING), CAST(attrs AS STRING), CAST(addr AS STRING) FROM users;
