<?php
class User {
    public $name = "ann";
    function hello() { return "hello {$this->name}"; }
}
function find($id) {
    return null;
}

echo find(3)->hello();
