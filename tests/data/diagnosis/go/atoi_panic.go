package main

import (
	"fmt"
	"strconv"
)

func main() {
	n, err := strconv.Atoi("twelve")
	if err != nil {
		panic(err)
	}
	fmt.Println(n)
}
