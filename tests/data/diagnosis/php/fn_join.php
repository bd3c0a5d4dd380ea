<?php
echo array_join(",", [1]);
