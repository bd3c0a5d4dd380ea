class Greeter {
    static String greet(String who) {
        return "hello " + whom;
    }
}
