package main

import "fmt"

func main() {
	i := 0
	fmt.Println(i++)
}
