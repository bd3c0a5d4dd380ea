import os


def settings():
    from dotenv import load_dotenv
    load_dotenv()
    return {"key": os.getenv("API_KEY"), "debug": os.getenv("DEBUG") == "1"}


def main():
    conf = settings()
    print("debug" if conf["debug"] else "production")


if __name__ == "__main__":
    main()
