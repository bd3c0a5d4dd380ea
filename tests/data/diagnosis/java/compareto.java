import java.util.*;
public class Main {
    static class P { int x; }
    public static void main(String[] args) { List<P> l = new ArrayList<>(List.of(new P())); Collections.sort(l); }
}
