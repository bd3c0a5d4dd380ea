package main

import "fmt"

func max(a, b int) int {
	return a > b ? a : b
}

func main() {
	fmt.Println(max(3, 4))
}
