<?php
function load($text) {
    try {
        if (!is_numeric($text))
            throw new InvalidArgumentException("not a number: $text");
    } catch (InvalidArgumentException $e) {
        throw new RuntimeException("cannot load", 0, $e);
    }
}
load("many");
