package main

import (
	"fmt"
	"os"
	"strings"
)

type Stack struct{ items []int }

func (s *Stack) Push(v int) { s.items = append(s.items, v) }

func main() {
	s := Stack{}
	s.Push(3)
	fmt.Println(len(s.items))
}
