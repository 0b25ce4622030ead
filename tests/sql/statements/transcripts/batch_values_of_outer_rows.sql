-- mode: batch
-- rows: in any order
-- Correlated aggregates: what those of no rows are.
-- file l/rows.csv
--|1,a,10
--|2,b,20
--|3,a,15
--|4,,16
CREATE TABLE l (id INT, k STRING, v INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.null-literal' = '', 'path' = '{tmp}/l');
SELECT id, (SELECT COUNT(*) FROM l b WHERE b.k = a.k) FROM l a;
SELECT id, (SELECT CASE WHEN COUNT(*) = 0 THEN 'none' ELSE MAX(k) END FROM l b WHERE b.k = a.k AND b.v < a.v) FROM l a;
SELECT id, (SELECT COALESCE(SUM(v), -1) FROM l b WHERE b.k = a.k AND b.v < a.v) FROM l a WHERE (SELECT COUNT(*) FROM l b WHERE b.v > a.v) < 2;
SELECT id, (SELECT COUNT(*) FROM l b WHERE b.k = a.k HAVING COUNT(*) > 1) FROM l a;
SELECT id FROM l a WHERE (SELECT COUNT(*) FROM l b WHERE b.k = a.k) = 0;
