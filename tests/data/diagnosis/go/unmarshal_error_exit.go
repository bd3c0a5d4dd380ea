package main

import (
	"encoding/json"
	"fmt"
	"os"
)

type Order struct {
	ID    int     `json:"id"`
	Total float64 `json:"total"`
}

func main() {
	var o Order
	err := json.Unmarshal([]byte(`{"id": 1, "total": "12.5"}`), &o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	fmt.Println(o)
}
