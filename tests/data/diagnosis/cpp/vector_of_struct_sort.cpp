#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

struct Student {
    std::string name;
    int grade;
};

int main() {
    std::vector<Student> students = {{"Ann", 3}, {"Bob", 1}, {"Cid", 2}};
    std::sort(students.begin(), students.end());
    for (const auto &s : students)
        std::cout << s.name << ' ' << s.grade << '\n';
    return 0;
}
