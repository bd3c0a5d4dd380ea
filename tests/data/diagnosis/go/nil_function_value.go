package main

type node struct{ next *node }

func main() {
	n := &node{}
	n.next.next = n
}
