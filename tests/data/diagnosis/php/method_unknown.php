<?php
class Cart {
    public array $items = [];
}
$cart = new Cart();
echo $cart->total();
