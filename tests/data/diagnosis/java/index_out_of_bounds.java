public class Main {
    public static void main(String[] args) {
        int[] values = {1, 2, 3};
        int sum = 0;
        for (int i = 0; i <= values.length; i++) {
            sum += values[i];
        }
        System.out.println(sum);
    }
}
