<?php
$total = 3;
echo total * 2;
