package main

import (
	"encoding/json"
	"fmt"
)

func main() {
	var order map[string]any
	if err := json.Unmarshal([]byte(`{"pieces": 7}`), &order); err != nil {
		panic(err)
	}
	pieces := order["pieces"].(int)
	fmt.Println(pieces / 2)
}
