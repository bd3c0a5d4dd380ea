package main

func (s string) Up() string { return s }
func main() {}
