<?php
function greet($name) {
    return "hello $name";
}
echo greeet("ann");
