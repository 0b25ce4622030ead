-- mode: batch
-- rows: in any order
-- file o/part.json
--|{"id": 1, "k": "a", "v": 30}
--|{"id": 2, "k": "a", "v": 10}
--|{"id": 3, "k": "a", "v": 20}
CREATE TABLE o (id INT, k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}/o', 'format' = 'json');
SELECT k, JSON_ARRAYAGG(v ORDER BY v) AS j FROM o GROUP BY k;
SELECT k, LISTAGG(CAST(v AS STRING)) WITHIN GROUP (ORDER BY v) AS j FROM o GROUP BY k;
SELECT k, ARRAY_AGG(v ORDER BY v) AS j FROM o GROUP BY k;
SELECT k, ARRAY_AGG(v) WITHIN GROUP (ORDER BY v) AS j FROM o GROUP BY k;
SELECT k, JSON_ARRAYAGG(v) WITHIN GROUP (ORDER BY v DESC) AS j FROM o GROUP BY k;
