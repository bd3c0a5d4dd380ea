package main

import "fmt"

func main() {
	var level uint8 = 300
	for i := uint8(0); i < level; i++ {
		fmt.Println(i)
	}
}
