import java.util.*;
public class Main {
    public static void main(String[] args) { List<Integer> x = new ArrayList<>(10); x.set(0, 3); }
}
