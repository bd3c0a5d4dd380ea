package main

import (
	"fmt"
	"time"
)

func elapsed(start time.Time, seconds int) bool {
	var limit int64 = 1000
	count := len("abc")
	if count > limit {
		return false
	}
	return time.Since(start) > time.Duration(seconds)*time.Second
}

func main() {
	fmt.Println(elapsed(time.Now(), 3))
}
