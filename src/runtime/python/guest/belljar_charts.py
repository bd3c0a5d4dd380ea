"""Figures and tables as data, for clients that draw them again: the charts of matplotlib, and the columns of pandas.

The form is that of E2B's SDKs. It is added to displays only in sessions whose client asks for it."""
import datetime

CHART, DATA = "application/vnd.e2b.chart.v1+json", "application/vnd.e2b.data.v1+json"
POINTS_MAX, ROWS_MAX = 10000, 10000


def plain(value):
    """A value for JSON."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, float) and value != value:
        return None
    return value if value is None or isinstance(value, (int, float, str, bool)) else str(value)


def moments(axis, values):
    """Numbers of an axis of dates as dates."""
    from matplotlib import dates
    if isinstance(axis.get_converter() if hasattr(axis, "get_converter") else axis.converter, dates.DateConverter) or "Date" in type(axis.get_major_locator()).__name__:
        return [dates.num2date(v).isoformat() if isinstance(v, (int, float)) else plain(v) for v in values]
    return [plain(v) for v in values]


def unit(label):
    """The unit in brackets at the end of a label."""
    for begin, end in ("()", "[]"):
        if label.endswith(end) and begin in label:
            return label[label.rindex(begin) + 1:-1]
    return None


def labelled(artist, number):
    label = artist.get_label()
    return label if label and not str(label).startswith("_") else f"Line {number}"


def axis_part(axes, which):
    axis = getattr(axes, which + "axis")
    label = getattr(axes, f"get_{which}label")()
    ticks = [plain(v) for v in getattr(axes, f"get_{which}ticks")()]
    return {f"{which}_label": label or None, f"{which}_unit": unit(label), f"{which}_ticks": moments(axis, ticks),
            f"{which}_tick_labels": [t.get_text() for t in getattr(axes, f"get_{which}ticklabels")()],
            f"{which}_scale": getattr(axes, f"get_{which}scale")()}


def pies(axes):
    from matplotlib.patches import Wedge
    texts = [t.get_text() for t in axes.texts]
    wedges = [p for p in axes.patches if isinstance(p, Wedge)]
    return [{"label": texts[i] if i < len(texts) else "", "angle": abs(plain(w.theta2 - w.theta1)), "radius": plain(w.r)}
            for i, w in enumerate(wedges)]


def bars(axes):
    names = {plain(v): t.get_text() for v, t in zip(axes.get_xticks(), axes.get_xticklabels())}
    across = {plain(v): t.get_text() for v, t in zip(axes.get_yticks(), axes.get_yticklabels())}
    found = []
    for container in axes.containers:
        lying = getattr(container, "orientation", "vertical") == "horizontal"
        for bar in container.patches:
            at = bar.get_y() + bar.get_height() / 2 if lying else bar.get_x() + bar.get_width() / 2
            label = (across if lying else names).get(round(plain(at), 9)) or str(plain(at))
            group = container.get_label()
            found.append({"label": label, "group": group if group and not str(group).startswith("_") else "",
                          "value": plain(bar.get_width() if lying else bar.get_height())})
    return found


def boxes(axes):
    """A box plot is made of lines: two whiskers, two caps, a box, a median and the outliers of each box."""
    def reach(line):
        return [plain(v) for v in line.get_ydata()]
    squares = [line for line in axes.lines if len(line.get_xdata()) == 5 and line.get_xdata()[0] == line.get_xdata()[-1]]
    names, found = [t.get_text() for t in axes.get_xticklabels()], []
    for i, square in enumerate(squares):
        left, right = min(square.get_xdata()), max(square.get_xdata())
        inside = [line for line in axes.lines if line is not square and len(line.get_xdata()) and left <= min(line.get_xdata()) and max(line.get_xdata()) <= right]
        low, high = min(reach(square)), max(reach(square))
        whiskers = [v for line in inside if len(line.get_xdata()) == 2 for v in reach(line)]
        medians = [reach(line)[0] for line in inside if len(set(line.get_xdata())) == 2 and low <= reach(line)[0] <= high and reach(line)[0] == reach(line)[-1]]
        points = [v for line in inside if str(line.get_linestyle()) == "None" for v in reach(line)]
        found.append({"label": names[i] if i < len(names) else str(i + 1), "min": min([*whiskers, low]), "first_quartile": low,
                      "median": medians[0] if medians else None, "third_quartile": high, "max": max([*whiskers, high]), "outliers": points})
    return found


def points(axes, pairs):
    return [list(p) for p in zip(moments(axes.xaxis, [a for a, _ in pairs]), moments(axes.yaxis, [b for _, b in pairs]))]


def chart_of(axes):
    chart = {"type": "unknown", "title": axes.get_title() or None, "elements": []}
    found = pies(axes)
    if found:
        return {**chart, "type": "pie", "elements": found}
    chart.update(axis_part(axes, "x"))
    chart.update(axis_part(axes, "y"))
    if any(hasattr(c, "patches") and c.patches for c in axes.containers):
        return {**chart, "type": "bar", "elements": bars(axes)}
    if axes.collections and not axes.lines:
        scattered = [(c, list(c.get_offsets())[:POINTS_MAX]) for c in axes.collections if hasattr(c, "get_offsets")]
        return {**chart, "type": "scatter", "elements": [
            {"label": labelled(c, i), "points": points(axes, [(plain(x), plain(y)) for x, y in pairs])} for i, (c, pairs) in enumerate(scattered)]}
    found = boxes(axes) if len(axes.lines) >= 6 else []
    if found:
        return {**chart, "type": "box_and_whisker", "elements": found}
    if axes.lines:
        return {**chart, "type": "line", "elements": [
            {"label": labelled(line, i), "points": points(axes, list(zip(map(plain, line.get_xdata(orig=True)), map(plain, line.get_ydata(orig=True))))[:POINTS_MAX])}
            for i, line in enumerate(axes.lines)]}
    return chart


def figure_data(figure):
    try:
        charts = [chart_of(axes) for axes in figure.axes]
    except Exception:  # a figure of an unusual kind is an image alone
        return None
    if len(charts) == 1:
        return charts[0]
    title = figure._suptitle.get_text() if getattr(figure, "_suptitle", None) else None
    return {"type": "superchart", "title": title, "elements": charts} if charts else None


def frame_data(frame):
    try:
        part = frame.head(ROWS_MAX)
        return {str(name): [plain(v) for v in part[name].tolist()] for name in part.columns}
    except Exception:
        return None


def keep(_formatter, _kind, default=None):
    """The backend of pyplot takes its figures out of every formatter when it begins. They stay in ours."""
    return default


def install(shell):
    from IPython.core.formatters import BaseFormatter
    from traitlets import ObjectName, Unicode
    formatters = shell.display_formatter.formatters
    if CHART in formatters:
        return
    for mime, method, module, name, function in ((CHART, "_repr_e2b_chart_", "matplotlib.figure", "Figure", figure_data),
                                                 (DATA, "_repr_e2b_data_", "pandas.core.frame", "DataFrame", frame_data)):
        kind = type("DataFormatter", (BaseFormatter,), {"format_type": Unicode(mime), "print_method": ObjectName(method), "_return_type": dict,
                                                        "pop": keep})
        formatters[mime] = kind(parent=shell.display_formatter)
        formatters[mime].for_type_by_name(module, name, function)
