package main

import "fmt"

func main() {
	total := 10
	fmt.Println(totl + total)
}
