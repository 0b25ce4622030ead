"""The implementation of `table.udf`: user-defined functions as programs declare them."""
