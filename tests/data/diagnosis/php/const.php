<?php
echo PI * 2;
