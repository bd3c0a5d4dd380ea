package main

import "fmt"

type P struct{ Name string }

func main() {
	p := P{Name: "a", Age: 3}
	fmt.Println(p.name)
}
