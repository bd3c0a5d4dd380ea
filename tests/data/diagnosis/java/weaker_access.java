interface Greeter {
    String greet(String name);
}

class Polite implements Greeter {
    String greet(String name) {
        return "Good day, " + name;
    }
}

public class Main {
    public static void main(String[] args) {
        System.out.println(new Polite().greet("Ann"));
    }
}
