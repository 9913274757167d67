from .tree import (
    Tree as Tree,
    sharing_pattern as sharing_pattern,
)
