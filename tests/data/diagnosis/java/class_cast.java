public class Main {
    public static void main(String[] args) {
        Object value = "text";
        Integer n = (Integer) value;
        System.out.println(n);
    }
}
