interface Shape {
    double area();
}

class Circle implements Shape {
}

public class Main {
    public static void main(String[] args) {
        System.out.println(new Circle());
    }
}
