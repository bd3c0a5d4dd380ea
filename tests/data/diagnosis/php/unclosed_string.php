<?php
function greet($name) {
    return "Hello, $name!;
}

echo greet("Ada");
echo "\n";
