"""Numbers that others print of Metz's, Davis's and KIBA data, made again."""
