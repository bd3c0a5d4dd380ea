package main

import "fmt"

func main() {
	values := []int{
		1,
		2
	}
	fmt.Println(values)
}
