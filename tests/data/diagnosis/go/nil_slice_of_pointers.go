package main

import "fmt"

type Player struct {
	Name  string
	Score int
}

func best(players []*Player) *Player {
	var top *Player
	for _, p := range players {
		if p.Score > 100 {
			top = p
		}
	}
	return top
}

func main() {
	players := []*Player{{"ann", 10}, {"bob", 20}}
	winner := best(players)
	fmt.Println(winner.Name)
}
