"""One module for each drawing: ``draw(frame, item)`` or ``tabulate(frame, item, printed)``."""
