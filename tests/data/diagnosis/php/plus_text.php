<?php
$name = "Ann";
echo "Hello " + $name;
