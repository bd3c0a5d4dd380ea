package main

import "fmt"

func average(total, n int) int {
	return total / n
}

func main() {
	fmt.Println(average(10, 0))
}
