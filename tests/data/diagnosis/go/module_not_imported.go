package main

func main() {
	r := gin.Default()
	r.Run()
}
