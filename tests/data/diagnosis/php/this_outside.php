<?php
function label() {
    return $this->name;
}
echo label();
