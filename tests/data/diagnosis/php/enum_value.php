<?php
enum Light: string {
    case Red = "r";
}
echo Light::from("x")->name;
