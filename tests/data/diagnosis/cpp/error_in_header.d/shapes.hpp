#pragma once
inline double area(double radius) {
    return 3.14 * radus * radius;
}
