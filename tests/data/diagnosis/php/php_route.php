<?php
declare(strict_types=1);

function slug(string $title): string {
    return strtolower(str_replace(' ', '-', $title));
}

function page(array $data): string {
    return slug($data['title'] ?? null);
}

echo page(['title' => 'Hello World']), "\n";
echo page([]), "\n";
