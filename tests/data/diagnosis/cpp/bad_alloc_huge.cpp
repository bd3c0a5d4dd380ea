#include <iostream>
#include <vector>

long long sieve(long long limit) {
    std::vector<char> composite(static_cast<std::size_t>(limit) + 1);
    long long count = 0;
    for (long long i = 2; i <= limit; ++i) {
        if (composite[i]) continue;
        ++count;
        for (long long j = i * i; j <= limit; j += i) composite[j] = 1;
    }
    return count;
}

int main() {
    std::cout << sieve(1000) << std::endl;
    std::cout << sieve(4000000000000000LL) << std::endl;
}
