package main

import "fmt"

func main() {
	xs := []int{1}
	i := len(xs) - 2
	fmt.Println(xs[i])
}
