package main

import "fmt"

type P struct {
	Name string
	Age  int
}

func main() {
	p := P{"a"}
	fmt.Println(p)
}
