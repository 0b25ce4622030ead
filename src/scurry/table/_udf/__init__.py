"""The implementation of `table.udf`: functions of users as programs declare them."""
