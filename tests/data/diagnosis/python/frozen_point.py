from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    x: float
    y: float

    def moved(self, dx):
        self.x += dx
        return self


print(Point(1, 2).moved(3))
