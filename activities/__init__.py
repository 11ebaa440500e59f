"""The steps that workflows ask for, implemented: database writes and upstream calls."""
