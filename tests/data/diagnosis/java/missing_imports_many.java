public class Main {
    static Map<String, Integer> count(String text) {
        Map<String, Integer> counts = new HashMap<>();
        for (String w : text.split(" ")) {
            counts.merge(w, 1, Integer::sum);
        }
        return counts;
    }

    public static void main(String[] args) {
        System.out.println(count("a b a"));
        List<String> sorted = new ArrayList<>(count("x y").keySet());
        System.out.println(sorted);
    }
}
