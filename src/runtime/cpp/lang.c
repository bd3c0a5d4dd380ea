/* runtime/cpp/lang.c — the declaration of cpp; see runtime/language.h. Pure data. */
#include "runtime/language.h"

/* {guest}/cpp/seed holds precompiled headers, made with exactly these options (guest/prepare). gcc
 * uses one if it matches in every respect and the file includes that header first. Otherwise, and
 * without a seed, gcc silently reads the header itself. */
DECLARE_LANGUAGE(cpp) = {
    NAMED("cpp", "main.cpp", WORDS(".cpp", ".cc", ".cxx", ".c++"),
          WORDS("c++", "cxx", "cc", "g++")),
    .command = WORDS("./{program}"),
    .no_sockets = NO_SOCKETS_IN_COMPILER,
    .compile = WORDS("/usr/bin/g++", "-std=gnu++17", "-O2", "-g1", "-Wall",
                     "-fdiagnostics-color=never", "-pthread", "-I{guest}/cpp/seed", "-o",
                     "{program}", "{sources}"),
    .products = WORDS("program"),
    /* For -fsanitize=address, as in c/lang.c. */
    .env = WORDS("ASAN_OPTIONS=disable_coredump=0:detect_leaks=0"),
    .version = WORDS("/usr/bin/g++", "-dumpfullversion"),
    .install = "apt-get install g++",
    .seeded = true,
    .hints = WORDS(
        "<c", "!^#include <iostream>", "!^#include <vector>", "!^#include <string>",
        "!^#include <bits/", "!^#include <map>", "!^#include <set>", "!^#include <queue>",
        "!^#include <stack>", "!^#include <deque>", "!^#include <list>", "!^#include <array>",
        "!^#include <algorithm>", "!^#include <numeric>", "!^#include <utility>",
        "!^#include <memory>", "!^#include <thread>", "!^#include <mutex>", "!^#include <atomic>",
        "!^#include <chrono>", "!^#include <functional>", "!^#include <sstream>",
        "!^#include <fstream>", "!^#include <iomanip>", "!^#include <optional>",
        "!^#include <variant>", "!^#include <tuple>", "!^#include <random>", "!^#include <regex>",
        "!^#include <stdexcept>", "!^#include <exception>", "!^#include <string_view>",
        "!^#include <unordered_", "!^#include <type_traits>", "!^#include <iterator>",
        "!^#include <limits>", "!^#include <ranges>", "!^#include <format>", "!^#include <bitset>",
        "!^#include <span>", "!^#include <future>", "!^#include <c", "!^using namespace ",
        "!^using ", "!std::", "!^template <", "!^template<",
        "!^public:", "!^private:", "!^protected:", "!virtual ", "!nullptr", "!auto &", "!auto& ",
        "!auto [", "!(auto ", "!^auto ", "!constexpr ", "!override", "!noexcept", "!explicit ",
        "!static_cast<", "!dynamic_cast<", "!const auto", "!vector<", "map<", "!pair<", "!queue<",
        "!stack<", "!set<", "!unique_ptr<", "!shared_ptr<", "!optional<", "^class ", "!cin >>",
        "!cin>>", "!cout <<", "!cout<<", "!cerr <<", "!endl", "! : public ", "= new ", "!new int",
        "!delete[] ", "!^delete ", "!const override", "operator", "!friend ", "!.push_back(",
        "!.emplace_back(", "!.c_str()", "!.begin()", "!.end()", "!int &", "!int& ", "!string &",
        "!string& ", "!double& ", "!const string", "^string ", "!catch (const ", "!catch (...)",
        "!= default;", "!= delete;", "!~) const {", "!) const ", "![](", "![&](", "![=](", "this->",
        "!to_string(", "!unordered_map<", "! map<", "!^map<", "!<string>", "!string>",
        "!^namespace ", "-extends ", "-^use "),
};
