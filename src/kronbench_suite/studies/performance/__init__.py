"""How close we come to the limit of the machine."""
