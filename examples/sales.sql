SET 'execution.runtime-mode' = 'batch';
SELECT city, SUM(amount) AS sales
FROM (VALUES ('oslo', 20), ('rome', 35), ('oslo', 15)) AS orders (city, amount)
GROUP BY city;
