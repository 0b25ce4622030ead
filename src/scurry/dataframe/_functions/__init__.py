"""User-defined functions in DataFrames.

hints         the SQL types of type hints
targets       what is declared: functions, objects, classes; how they are called, and what they are annotated with
results       results of functions as values of the declared types
adapters      functions as the Table API takes them, made and opened on workers
"""
