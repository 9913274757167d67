"""What makes a page: pictures, tables, claims, from result tables alone."""
