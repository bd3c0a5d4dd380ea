<?php
$names = ["a"];
$names->push("b");
