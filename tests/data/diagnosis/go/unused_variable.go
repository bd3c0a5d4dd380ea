package main

import "fmt"

func main() {
	total := 3 + 4
	result := total * 2
	fmt.Println(total)
}
