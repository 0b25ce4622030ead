"""The names and the version of PyFlink that scurry follows."""
