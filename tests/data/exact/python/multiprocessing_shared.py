from multiprocessing import Process, Value, Array, Lock, shared_memory, Manager
def work(v, a, l):
    with l:
        v.value += 1
        a[0] = 42
if __name__ == "__main__":
    v, a, l = Value("i", 0), Array("d", [1.0, 2.0]), Lock()
    ps = [Process(target=work, args=(v, a, l)) for _ in range(2)]
    [p.start() for p in ps]; [p.join() for p in ps]
    print(v.value, list(a))
    m = shared_memory.SharedMemory(create=True, size=16)
    m.buf[:3] = b"abc"
    n = shared_memory.SharedMemory(m.name)
    print(bytes(n.buf[:3]))
    n.close(); m.close(); m.unlink()
