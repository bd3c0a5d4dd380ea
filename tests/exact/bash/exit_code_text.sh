exit five
