from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
print(getcontext(), Decimal("0.1") + Decimal("0.2"), Fraction(1, 3) + Fraction("0.25"))
with localcontext() as c:
    c.prec = 50
    print(Decimal(2).sqrt())
Decimal(1) / 0
