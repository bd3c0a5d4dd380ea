package main

import "fmt"

func main() {
	var v interface{} = "text"
	n := v.(int)
	fmt.Println(n)
}
