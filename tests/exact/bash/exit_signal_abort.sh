kill -ABRT $$
