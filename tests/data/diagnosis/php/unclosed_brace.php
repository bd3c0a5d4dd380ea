<?php
function greet($name) {
    echo "hello $name";

greet("ann");
