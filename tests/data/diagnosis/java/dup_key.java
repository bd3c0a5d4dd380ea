import java.util.*;
import java.util.stream.*;
public class Main {
    public static void main(String[] args) { Map<Integer, String> m = Stream.of("a", "b").collect(Collectors.toMap(String::length, s -> s)); }
}
