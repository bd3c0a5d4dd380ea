<?php
function classify(int $n): string
{
    if ($n > 10) {
        return 'big';
    
    return 'small';
}

echo classify(3), "\n";
