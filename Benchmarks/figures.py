"""From lanes to figures, and from figures to a Markdown table."""
from statistics import median


class Figure:
    """One number with the goal it is held against; no goal: shown for comparison."""

    def __init__(self, name, value, unit="", goal=None, at_least=False):
        self.name, self.value, self.unit, self.goal, self.at_least = name, value, unit, goal, at_least

    @property
    def met(self):
        if self.goal is None:
            return None
        return self.value >= self.goal if self.at_least else self.value <= self.goal

    def as_json(self):
        return {"figure": self.name, "value": round(self.value, 4), "unit": self.unit, "goal": self.goal,
                "goal_is": "at least" if self.at_least else "at most", "met": self.met}

    def row(self):
        goal = "" if self.goal is None else f"{'≥' if self.at_least else '≤'} {number(self.goal)}{self.unit}"
        met = {None: "", True: "yes", False: "**no**"}[self.met]
        return f"| {self.name} | {number(self.value)}{self.unit} | {goal} | {met} |"


def number(value):
    if isinstance(value, int):
        return f"{value:,}"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 20 else f"{value:.2f}"


def typical(lane, key):
    """The median over the rounds: a burst of other work spoils a few rounds, not the figure."""
    return median(one[key] for one in lane["rounds"])


def ratio(lane, base, key):
    """The median of the ratios of paired rounds: what slows one slice down mostly slows its neighbour."""
    return median(a[key] / b[key] for a, b in zip(lane["rounds"], base["rounds"]) if a[key] and b[key])


CALLS_HEAD = """\
| items | call | clients | processors | broker p50 / p99 us | calls/s | echo p50 / p99 us | calls/s | \
p50 ratio | p99 ratio | rate ratio | CPU us a call, broker / echo |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def call_row(items, call, where, lane, base):
    def sides(one):
        return f"{number(typical(one, 'p50'))} / {number(typical(one, 'p99'))} | {number(typical(one, 'rate'))}"

    ratios = " | ".join(f"{ratio(lane, base, key):.2f}" for key in ("p50", "p99", "rate"))
    return (f"| {items:,} | {call} | {lane['clients']} | {where} | {sides(lane)} | {sides(base)} | {ratios} | "
            f"{number(lane['cpu_us'])} / {number(base['cpu_us'])} |")


FRONT_HEAD = """\
| items | call of org.freedesktop.secrets | on | service | its p50 / p99 us | calls/s | echo p50 / p99 us | calls/s | \
p50 ratio | p99 ratio | rate ratio | CPU us a call, its / echo |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""
FRONT_CALLS = {"get-secret": "GetSecret", "search-items": "SearchItems, 6 attributes", "miss": "SearchItems, no match",
               "look-up": "SearchItems + GetSecrets", "visit": "connect, OpenSession, look-up, close"}
FRONT_SERVICES = {"secrets": "broker", "gnome": "gnome-keyring"}


def front_row(items, call, where, service, lane, base):
    row = call_row(items, FRONT_CALLS[call], FRONT_SERVICES[service], lane, base)
    return row.replace(f" | {lane['clients']} | ", f" | {where} | ", 1)


LANES_HEAD = """\
| lane | on | calls/s | p50 us | p99 us | CPU us a call | calls/s of the writer beside |
| --- | --- | --- | --- | --- | --- | --- |"""


def lane_row(lane, where):
    beside = number(lane["beside_rate"]) if "beside_rate" in lane else ""
    return (f"| {lane['lane']} | {where} | {number(lane['rate'])} | {number(lane['p50'])} | {number(lane['p99'])} | "
            f"{number(lane['cpu_us']) if lane['cpu_us'] else ''} | {beside} |")


def markdown(header, figures, tables, notes):
    parts = ["# Benchmark", "\n".join(f"- {line}" for line in header),
             "| figure | measured | goal | met |\n| --- | --- | --- | --- |\n" + "\n".join(f.row() for f in figures)]
    parts += [head + "\n" + "\n".join(rows) for head, rows in tables if rows]
    if notes:
        parts.append("\n".join(f"- {note}" for note in notes))
    return "\n\n".join(parts) + "\n"
