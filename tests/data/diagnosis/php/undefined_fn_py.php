<?php
echo array_contains([1], 1);
