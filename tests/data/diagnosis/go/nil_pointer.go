package main

import "fmt"

type user struct{ name string }

func find(id int) *user { return nil }

func main() {
	u := find(3)
	fmt.Println(u.name)
}
