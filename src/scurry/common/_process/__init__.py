"""Environment of a program's process: its command-line options, and the directories of the machine."""
