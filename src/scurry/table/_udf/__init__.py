"""Functions of users as programs declare them: behind `scurry.table.udf`."""
