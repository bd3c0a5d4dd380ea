<?php
echo len("abc");
