<?php
require "lib.php";
echo shout("hello");
