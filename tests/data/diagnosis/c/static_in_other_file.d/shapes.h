double area_of_circle(double r);
