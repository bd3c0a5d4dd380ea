def percent(done, total):
    return round(100 * done / total, 1)


def show(jobs):
    for name, (done, total) in jobs.items():
        print(f"{name:10} {percent(done, total)} %")


show({"copy": (5, 10), "index": (3, 4), "upload": (0, 0)})
