package main

import "fmt"

func helper(n int) int { return n * n }

func main() {
	fmt.Println(helper(3))
}
