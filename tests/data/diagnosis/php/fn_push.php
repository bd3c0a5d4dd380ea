<?php
$a = []; push($a, 1); print_r($a);
