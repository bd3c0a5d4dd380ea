package main

import "fmt"

func pair() (int, error) {
	return 1
}

func main() {
	fmt.Println(pair())
}
