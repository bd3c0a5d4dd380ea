<?php
$user = ["name" => "ann"];
if ($user["age"] === null) exit(1);
