echo {a,b}{1..3} {01..03} {z..x}; mkdir d; touch d/{a,b,c}.txt d/.h; echo d/* d/[ab]* d/?.txt nomatch*; shopt -s nullglob dotglob extglob; echo nomatch* d/* d/!(a*); echo *
