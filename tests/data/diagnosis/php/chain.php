<?php
class ServiceException extends RuntimeException {}

function load(string $json): array {
    try {
        return json_decode($json, true, 512, JSON_THROW_ON_ERROR);
    } catch (JsonException $e) {
        throw new ServiceException('cannot load', 0, $e);
    }
}

load('{"a": 1}');
load('{bad');
