"""The logical job: nodes a program builds, and the plan of levels they become."""
