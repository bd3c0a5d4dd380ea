public class Main {
    public static void main(String[] args) {
        ArrayList<String> names = new ArrayList<>();
        names.add("ann");
        System.out.println(names);
    }
}
