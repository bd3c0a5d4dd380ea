class V:
    def __init__(s, x): s.x = x
    def __add__(s, o): return V(s.x + o.x)
    def __repr__(s): return f"V({s.x})"
    def __getitem__(s, i): return i
    def __matmul__(s, o): return "@"
print(V(1) + V(2), V(0)[1:2, ...], V(1) @ V(2))
V(1) - V(2)
