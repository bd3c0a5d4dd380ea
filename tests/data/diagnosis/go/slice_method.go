package main

func main() {
	var names []string
	names.append("a")
}
