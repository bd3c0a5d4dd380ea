<?php
$day = new DateTime("31.31.2024 foo");
