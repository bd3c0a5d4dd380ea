package main

import "fmt"

type Node struct {
	Key         int
	Left, Right *Node
}

func (n *Node) Insert(key int) *Node {
	if n == nil {
		return &Node{Key: key}
	}
	if key < n.Key {
		n.Left = n.Left.Insert(key)
	} else {
		n.Right = n.Right.Insert(key)
	}
	return n
}

func min(n *Node) int {
	for n.Left != nil {
		n = n.Left
	}
	return n.Key
}

func main() {
	var root *Node
	for _, k := range []int{5, 3, 8} {
		root.Insert(k)
	}
	fmt.Println(min(root))
}
