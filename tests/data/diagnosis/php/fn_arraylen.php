<?php
echo array_length([1, 2]);
