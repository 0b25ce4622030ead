"""What surrounds the process of a program: its options from the command line, and directories of the machine."""
