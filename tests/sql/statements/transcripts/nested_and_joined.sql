-- set parallelism.default=1
-- rows: in any order
-- file o/part.json
--|{"id": 1, "k": "a", "r": {"a": 1, "k": "row"}, "items": [{"sku": "s1", "n": 2}, null, {"sku": "s2", "n": null}]}
--|{"id": 2, "k": "b", "r": {"a": 2, "k": "row"}, "items": []}
--|{"id": 3, "k": "c", "r": {"a": 4, "k": "row"}, "items": [null]}
--|{"id": 4, "k": null, "r": null, "items": null}
--|{"id": 0, "k": "b", "r": {"a": 3, "k": "row"}, "items": [{"sku": null, "n": null}]}
CREATE TABLE o (id INT, k STRING, r ROW<a INT, k STRING>, items ARRAY<ROW<sku STRING, n INT>>) WITH ('connector' = 'filesystem', 'path' = '{tmp}/o', 'format' = 'json');
SELECT id, sku, n FROM o CROSS JOIN UNNEST(items) AS u(sku, n);
SELECT id, sku, n FROM o LEFT JOIN UNNEST(items) AS u(sku, n) ON TRUE;
SELECT sku, COUNT(*) AS c FROM o CROSS JOIN UNNEST(items) AS u(sku, n) GROUP BY sku;
SELECT x FROM (VALUES (ARRAY[ROW(1), CAST(NULL AS ROW<x INT>)])) AS t(rows_) CROSS JOIN UNNEST(rows_) AS u(x);
SELECT a.id, b.id FROM o AS a JOIN LATERAL (SELECT b.id FROM o AS b WHERE b.k = a.k AND b.id < a.id) AS b ON TRUE;
SELECT a.id FROM o AS a WHERE EXISTS (SELECT 1 FROM o AS b WHERE b.id = a.r.a AND a.k = b.k);
SELECT * FROM (SELECT k, id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id DESC) AS rn FROM o) AS t JOIN (VALUES ('a', 'Anna'), ('b', 'Bob')) AS n(k, name) ON t.k = n.k WHERE rn <= 1;
SELECT t.k, id, rn, name FROM (SELECT k, id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id DESC) AS rn FROM o) AS t JOIN (VALUES ('a', 'Anna'), ('b', 'Bob')) AS n(k, name) ON t.k = n.k AND rn < 3;
SELECT t.k, id FROM (SELECT k, id, RANK() OVER (PARTITION BY k ORDER BY id DESC) AS rn FROM o) AS t JOIN (VALUES ('a', 'Anna')) AS n(k, name) ON t.k = n.k WHERE rn <= 1;
SELECT t.k, id FROM (SELECT k, id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id DESC) AS rn FROM o) AS t JOIN (VALUES ('a', 'Anna')) AS n(k, name) ON t.k = n.k WHERE rn > 1;
SELECT t.k, id FROM (SELECT k, id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id DESC) AS rn FROM o) AS t JOIN (VALUES ('a', 'Anna')) AS n(k, name) ON t.k = n.k WHERE name <> 'x';
SELECT k, c FROM (SELECT k, COUNT(*) AS c FROM (SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id DESC) AS rn FROM o UNION ALL SELECT k, CAST(id AS BIGINT) FROM o) WHERE rn <= 1 GROUP BY k);
