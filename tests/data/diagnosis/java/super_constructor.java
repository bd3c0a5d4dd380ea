public class Main {
    static class Animal {
        protected final String name;
        Animal(String name) { this.name = name; }
    }

    static class Dog extends Animal {
        private final int age;
        Dog(String name, int age) {
            this.age = age;
        }
        String show() { return name + " " + age; }
    }

    public static void main(String[] args) {
        System.out.println(new Dog("Rex", 3).show());
    }
}
