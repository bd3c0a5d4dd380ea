import java.util.*;
public class Main {
    static class P { int x; }
    public static void main(String[] args) { Set<P> s = new TreeSet<>(); s.add(new P()); }
}
