-- What a web shop sells per item and day, from a file of orders:
--
--     scurry run --runner local examples/web_shop.sql
SET 'execution.runtime-mode' = 'batch';
SET 'table.local-time-zone' = 'UTC';

CREATE TEMPORARY VIEW orders AS
SELECT * FROM (VALUES
  (1, 'tea', 3.50, TIMESTAMP '2026-03-01 09:30:00'),
  (2, 'cake', 4.20, TIMESTAMP '2026-03-01 10:15:00'),
  (3, 'tea', 3.50, TIMESTAMP '2026-03-01 17:45:00'),
  (4, 'tea', 3.80, TIMESTAMP '2026-03-02 08:05:00')
) AS o (id, item, price, ordered);

SELECT CAST(ordered AS DATE) AS `day`, item, COUNT(*) AS orders, SUM(price) AS revenue
FROM orders
GROUP BY CAST(ordered AS DATE), item
ORDER BY `day`, item;
