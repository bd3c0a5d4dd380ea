<?php
class Cart {
    private array $items = [];

    public function addItem(string $name, float $price): void {
        $this->items[] = ['name' => $name, 'price' => $price];
    }

    public function total(): float {
        return array_sum(array_column($this->items, 'price'));
    }
}

$cart = new Cart();
$cart->addItems('tea', 2.5);
echo $cart->total();
