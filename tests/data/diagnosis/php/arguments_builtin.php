<?php
echo str_repeat("a");
