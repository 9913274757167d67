"""What commands that start the workflow do: make figures, and run what a user brings."""
