-- mode: batch
-- set table.local-time-zone=Europe/Berlin
-- the days on which clocks change
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
CREATE TABLE ev (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR) WITH ('connector'='filesystem','path'='{tmp}/ev.csv','format'='csv','csv.null-literal'='');
CREATE VIEW evz AS SELECT id, k, v, CAST(ts AS TIMESTAMP_LTZ(3)) AS z FROM ev;
SELECT id, z, CAST(z AS STRING) AS s, CAST(z AS DATE) AS d, HOUR(z) AS h, DATE_FORMAT(z, 'HH:mm') AS f FROM evz;
SELECT CAST(z AS DATE) AS d, COUNT(*) AS c FROM evz GROUP BY CAST(z AS DATE);
SELECT id, TIMESTAMPDIFF(HOUR, z, LEAD(z) OVER (PARTITION BY 1 ORDER BY id)) AS h FROM evz WHERE id < 0;
SELECT id, z + INTERVAL '1' DAY AS a, z + INTERVAL '24' HOUR AS b, CEIL(z TO DAY) AS c FROM evz WHERE id IN (1, 5, 8, 9);
SELECT MIN(z) AS a, MAX(z) AS b, COUNT(DISTINCT z) AS c FROM evz;
SELECT UNIX_TIMESTAMP(CAST(z AS STRING)) AS u, FROM_UNIXTIME(1711846800) AS f, TO_TIMESTAMP_LTZ(1711846800, 0) AS t, CONVERT_TZ('2024-03-31 02:30:00', 'Europe/Berlin', 'UTC') AS c FROM evz WHERE id = 1;
