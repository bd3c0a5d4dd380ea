package main

import "fmt"

func main() {
	var x uint8 = 256
	var y int = 3.5
	fmt.Println(x, y)
}
