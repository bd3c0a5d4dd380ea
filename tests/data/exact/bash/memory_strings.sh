for i in {1..3000}; do a[i]="item $i"; done; echo ${#a[@]} "${a[2999]}"; s=; for i in {1..500}; do s+=$i; done; echo ${#s}
