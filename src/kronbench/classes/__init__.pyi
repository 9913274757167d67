from .tree import Tree as Tree
