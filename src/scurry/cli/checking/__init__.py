"""`scurry check`: reads programs without running them, and finds lines that fail, differ or have a counterpart."""
