-- mode: batch
-- rows: in any order
-- file l/part.json
--|{"k": 1, "x": "a", "v": 10}
--|{"k": 2, "x": "b", "v": 20}
--|{"k": 2, "x": "bb", "v": 25}
--|{"k": null, "x": "n", "v": 30}
--|{"k": 4, "x": "d", "v": null}
-- file r/part.json
--|{"k": 2, "y": "two", "w": 15}
--|{"k": 2, "y": "zwei", "w": 22}
--|{"k": 3, "y": "three", "w": 5}
--|{"k": null, "y": "null", "w": 30}
--|{"k": 4, "y": "four", "w": 1}
CREATE TABLE l (k INT, x STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/l', 'format' = 'json');
CREATE TABLE r (k INT, y STRING, w INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/r', 'format' = 'json');
SELECT l.k, x, y FROM l JOIN r ON l.k = r.k;
SELECT l.k, x, y FROM l LEFT JOIN r ON l.k = r.k;
SELECT l.k, x, y FROM l RIGHT JOIN r ON l.k = r.k AND v > w;
SELECT l.k AS lk, r.k AS rk, x, y FROM l FULL OUTER JOIN r ON l.k = r.k AND x <> 'bb';
SELECT x, y FROM l FULL JOIN r ON l.k IS NOT DISTINCT FROM r.k;
SELECT x, y FROM l JOIN r ON v < w;
SELECT x, y FROM l LEFT JOIN r ON v < w AND l.k = r.k;
SELECT x, y FROM l FULL JOIN r ON FALSE;
SELECT COUNT(*) FROM l CROSS JOIN r;
SELECT COUNT(*) FROM l, r WHERE l.k = r.k;
SELECT k, x, y FROM l JOIN r USING (k);
SELECT k, x, y FROM l FULL JOIN r USING (k);
SELECT * FROM l NATURAL LEFT JOIN r;
SELECT a.x, b.x FROM l AS a JOIN l AS b ON a.k = b.k AND a.x < b.x;
SELECT x FROM l WHERE k IN (SELECT k FROM r);
SELECT x FROM l WHERE k NOT IN (SELECT k FROM r);
SELECT x FROM l WHERE k NOT IN (SELECT k FROM r WHERE k IS NOT NULL);
SELECT x FROM l WHERE k NOT IN (SELECT k FROM r WHERE FALSE);
SELECT x FROM l WHERE (k, v) IN (SELECT k, w + 5 FROM r);
SELECT x FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND w > v);
SELECT x FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = l.k);
SELECT x, (SELECT MAX(w) FROM r WHERE r.k = l.k) AS m FROM l;
SELECT x, (SELECT COUNT(*) FROM r WHERE r.k = l.k) AS n FROM l;
SELECT x FROM l WHERE v > (SELECT AVG(w) FROM r WHERE r.k = l.k);
SELECT x FROM l WHERE v > ALL (SELECT w FROM r WHERE w < 20);
SELECT x FROM l WHERE v = ANY (SELECT w FROM r);
SELECT x, y FROM l, LATERAL (SELECT y FROM r WHERE r.k = l.k AND w < v);
SELECT x, n FROM l LEFT JOIN LATERAL (SELECT SUM(w) AS n FROM r WHERE r.k = l.k) ON TRUE;
SELECT x, e FROM l CROSS JOIN UNNEST(ARRAY[v, k]) AS u(e) WHERE k = 2;
SELECT x, e, o FROM l LEFT JOIN UNNEST(ARRAY[x, 'z']) WITH ORDINALITY AS u(e, o) ON TRUE WHERE k = 1;
WITH big AS (SELECT * FROM l WHERE v >= 20), pairs AS (SELECT big.x, r.y FROM big JOIN r ON big.k = r.k) SELECT COUNT(*), MIN(y) FROM pairs;
SELECT a.x, b.y, c.x FROM l a JOIN r b ON a.k = b.k JOIN l c ON c.k = b.k WHERE a.x = 'b' ORDER BY 1, 2, 3;
SELECT x FROM l WHERE k IN (SELECT k FROM r WHERE r.w < l.v);
SELECT x FROM l WHERE k IN (1, 2, NULL);
SELECT x FROM l WHERE k NOT IN (1, NULL);
SELECT x, CASE WHEN k IN (SELECT k FROM r) THEN 'in' ELSE 'out' END FROM l;
SELECT (SELECT y FROM r) FROM l;
SELECT l.x FROM l LEFT SEMI JOIN r ON l.k = r.k;
SELECT x FROM l JOIN r ON l.k = r.k AND l.x = r.nope;
SELECT k FROM l JOIN r ON l.k = r.k;
SELECT /*+ BROADCAST(r) */ x, y FROM l JOIN r ON l.k = r.k WHERE v > 20;
