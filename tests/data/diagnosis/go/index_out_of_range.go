package main

import "fmt"

func main() {
	values := []int{1, 2, 3}
	sum := 0
	for i := 0; i <= len(values); i++ {
		sum += values[i]
	}
	fmt.Println(sum)
}
