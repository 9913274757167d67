"""Pictures and tables of rivals."""
