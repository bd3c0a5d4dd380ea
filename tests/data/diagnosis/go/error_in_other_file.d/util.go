package main

func double(n int) int {
	unused := n
	return n * 2
}
