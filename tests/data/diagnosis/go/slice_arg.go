package main

import "fmt"

func sum(xs ...int) int { return len(xs) }
func main() {
	v := []int{1}
	fmt.Println(sum(v))
}
