package main

import (
	"errors"
	"fmt"
)

func divide(a, b int) (int, error) {
	if b == 0 {
		return errors.New("division by zero")
	}
	return a / b, nil
}

func main() {
	fmt.Println(divide(4, 2))
}
