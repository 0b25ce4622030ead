{{ config(materialized='table') }}

SELECT customer, COUNT(*) AS orders, SUM(amount) AS total
FROM {{ ref('large_orders') }}
GROUP BY customer
