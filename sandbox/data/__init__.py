"""The sandbox's own lists: places, names, occupations, employers, schools and texts."""
