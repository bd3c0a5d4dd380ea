package main

import "fmt"

func show(xs []interface{}) { fmt.Println(xs...) }
func main() { show([]string{"a"}) }
