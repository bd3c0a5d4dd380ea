public class Main {
    enum Color { RED, GREEN, BLUE }

    static Color parse(String s) {
        return Color.valueOf(s.trim());
    }

    public static void main(String[] args) {
        System.out.println(parse("RED"));
        System.out.println(parse("purple"));
    }
}
