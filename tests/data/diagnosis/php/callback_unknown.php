<?php
print_r(array_map("double", [1, 2]));
