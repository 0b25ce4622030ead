"""The implementation of `dataframe.dataframe`: the methods of a DataFrame by subject."""
