<?php
if (string_contains("abc", "a")) echo "x";
