package main

import (
	"encoding/json"
	"fmt"
)

func main() {
	var order map[string]any
	if err := json.Unmarshal([]byte(`{"tags": ["a", "b"]}`), &order); err != nil {
		panic(err)
	}
	for _, tag := range order["tags"].([]string) {
		fmt.Println(tag)
	}
}
