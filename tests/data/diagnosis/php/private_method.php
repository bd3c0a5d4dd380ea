<?php
class Door {
    private function open() {}
}
$door = new Door();
$door->open();
