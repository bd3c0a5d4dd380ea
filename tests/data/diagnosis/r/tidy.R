data <- data.frame(x = 1:10, y = (1:10)^2)

library(ggplot2)

p <- ggplot(data, aes(x, y)) + geom_point()
ggsave("plot.png", p)
