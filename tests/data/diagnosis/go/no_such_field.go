package main

import "fmt"

type user struct{ Name string }

func main() {
	u := user{"ann"}
	fmt.Println(u.Nmae)
}
