"""The logical job: the nodes that a program builds, and the plan of levels made of them."""
