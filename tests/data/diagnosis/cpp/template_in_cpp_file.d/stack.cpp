#include "stack.h"

template <typename T>
void Stack<T>::push(const T &v) { items.push_back(v); }

template <typename T>
T Stack<T>::pop() {
    T v = items.back();
    items.pop_back();
    return v;
}
