value = 1
print("running as", __name__)
if __name__ == "__main__":
    import helper
