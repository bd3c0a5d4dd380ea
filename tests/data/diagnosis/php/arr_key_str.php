<?php
$u = ["name" => "a"];
echo "Hi $u['name']";
