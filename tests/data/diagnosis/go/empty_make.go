package main

import "fmt"

func main() {
	xs := make([]int, 0, 3)
	xs[0] = 1
	fmt.Println(xs)
}
