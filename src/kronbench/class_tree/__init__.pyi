from .sharing import sharing_pattern as sharing_pattern
from .tree import Tree as Tree
