"""Python values as values of columns, and back: types of hints and of streams, conversions by sender and receiver.

hints              SQL types of annotations and of Python values
type_information   declared types of streams as SQL types, and back
arguments          columns to arguments of user-defined functions
records            columns to records of streams
collected          values of columns to the values of `collect()`
results            results of user-defined functions to columns
texts              values of columns as texts in JSON and CSV
parsing            texts in JSON and CSV as values of columns
elements           the values of `from_elements` to values of columns
"""
