package main

import "fmt"

type Shape interface {
	Area() float64
	Scale(f float64)
}

type Square struct{ side float64 }

func (s Square) Area() float64    { return s.side * s.side }
func (s *Square) Scale(f float64) { s.side *= f }

func main() {
	shapes := []Shape{Square{2}, Square{3}}
	for _, s := range shapes {
		s.Scale(2)
		fmt.Println(s.Area())
	}
}
