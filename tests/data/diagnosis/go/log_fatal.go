package main

import (
	"fmt"
	"log"
	"strconv"
)

func parseAge(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("age: %w", err)
	}
	return n, nil
}

func main() {
	age, err := parseAge("thirty")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(age)
}
