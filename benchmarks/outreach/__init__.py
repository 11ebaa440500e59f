"""What outreach costs, each figure beside its floor in the same run: a preview, sleeping enrollments, and a life."""
