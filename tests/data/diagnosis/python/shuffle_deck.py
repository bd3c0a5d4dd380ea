import random

SUITS = "SHDC"
RANKS = "23456789TJQKA"


def new_deck():
    deck = [r + s for s in SUITS for r in RANKS]
    deck = random.shuffle(deck)
    return deck


def deal(deck, n):
    hand = deck[:n]
    del deck[:n]
    return hand


deck = new_deck()
print(deal(deck, 5))
