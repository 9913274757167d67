"""What a user would take today instead, under one protocol."""
