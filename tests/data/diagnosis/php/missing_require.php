<?php
require "helpr.php";
echo twice(2);
