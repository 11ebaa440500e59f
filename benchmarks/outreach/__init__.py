"""The cost of outreach, compared with floors of the same run: a preview, idle enrollments, and a whole enrollment."""
