from dataclasses import dataclass
from typing import List


@dataclass
class Node:
    value: int
    left: Optional["Node"] = None
    right: Optional["Node"] = None


def inorder(node) -> List[int]:
    if node is None:
        return []
    return inorder(node.left) + [node.value] + inorder(node.right)


print(inorder(Node(2, Node(1), Node(3))))
