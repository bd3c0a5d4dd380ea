package main

import "fmt"

func main() {
	text := "abc"
	n := 5
	fmt.Println(text[:n])
}
