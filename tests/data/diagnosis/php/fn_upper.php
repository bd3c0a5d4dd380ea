<?php
echo toUpperCase("a");
