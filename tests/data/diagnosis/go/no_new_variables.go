package main

import "fmt"

func main() {
	n := 1
	n := 2
	fmt.Println(n)
}
