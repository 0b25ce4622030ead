-- rows: in any order
-- An update that leaves a row equal to others in order leaves it in its place.
-- file l/rows.csv
--|1,a,10
--|2,b,10
--|3,c,9
--|4,a,3
--|5,b,4
--|6,a,5
--|7,c,10
--|8,a,6
--|9,d,10
--|10,b,7
CREATE TABLE l (id INT, k STRING, v INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp}/l');
SELECT k, m, c FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY m DESC) AS rn FROM (SELECT k, MAX(v) AS m, COUNT(*) AS c FROM l GROUP BY k)) WHERE rn <= 2;
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY m DESC) AS rn FROM (SELECT k, MAX(v) AS m, COUNT(*) AS c FROM l GROUP BY k)) WHERE rn <= 2;
SELECT k, m, c FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY m DESC) AS rn FROM (SELECT k, MAX(v) AS m, COUNT(*) AS c FROM l GROUP BY k)) WHERE rn <= 1;
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY m DESC) AS rn FROM (SELECT k, MAX(v) AS m, COUNT(*) AS c FROM l GROUP BY k)) WHERE rn <= 3;
