{{ config(materialized='streaming_job', options={'format': 'json'}) }}

SELECT id, customer, amount, ordered
FROM {{ source('shop', 'orders') }}
WHERE amount >= 10
