package main

import "fmt"

func main() {
	xs := []int{1, 2, 3}
	n := len(xs)
	fmt.Println(xs[n])
}
