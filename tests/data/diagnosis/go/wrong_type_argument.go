package main

import "fmt"

func twice(n int) int { return n * 2 }

func main() {
	fmt.Println(twice("a"))
}
