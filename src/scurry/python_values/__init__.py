"""Values of columns as PyFlink hands them to the functions of users, and the results of functions as columns."""
