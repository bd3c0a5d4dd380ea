package main

import "fmt"

type Logger interface{ Log(string) }

type Service struct {
	logger Logger
	name   string
}

func (s *Service) Run() {
	s.logger.Log("starting " + s.name)
}

func main() {
	svc := &Service{name: "mail"}
	svc.Run()
	fmt.Println("done")
}
