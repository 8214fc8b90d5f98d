# SPDX-License-Identifier: Apache-2.0
"""Reads a JSON array of support tickets on standard input, prints a JSON summary, and writes tickets.csv and report.html.

The answer depends on nothing but the tickets and references/rules.json."""

import base64
import collections
import csv
import datetime
import html
import json
import os
import pathlib
import sys

SKILL = pathlib.Path(__file__).resolve().parent.parent
OUT = pathlib.Path(os.environ.get("TICKETS_OUT", "/workspace/out"))
QUEUE_LENGTH = 10


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def newest(tickets):
    times = [moment(t[key]) for t in tickets for key in ("created_at", "answered_at") if t.get(key)]
    return max(times, default=None)


def words_of(ticket):
    return (ticket["subject"] + "\n" + ticket.get("body", "")).casefold().replace("\u2019", "'")


def topic_of(ticket, rules):
    """The first topic, in the order of the rules, of which the ticket says a word."""
    text = words_of(ticket)
    return next((topic for topic, words in rules["topics"].items() if any(w in text for w in words)), "other")


def score(ticket, now, rules):
    """Points and the reasons for them."""
    text, points, reasons = words_of(ticket), 0, []
    signal = next((s for s in rules["signals"] if any(w in text for w in s["words"])), None)
    plan = rules["plans"].get(ticket.get("plan", "free"), 0)
    days = max(0, (now - moment(ticket["created_at"])).days)
    age = min(days * rules["points_per_day"], rules["most_points_for_age"])
    again = min(ticket.get("reopened", 0) * rules["points_per_reopening"], rules["most_points_for_reopening"])
    for value, reason in (
        (signal["points"] if signal else 0, f"reads like: {signal['name']}" if signal else ""),
        (plan, f"plan: {ticket.get('plan')}"),
        (age, f"waits for {days} day(s)"),
        (again, f"reopened {ticket.get('reopened')} time(s)"),
    ):
        points += value
        if value:
            reasons.append(f"{reason} (+{value})")
    return points, reasons


def judge(tickets, rules):
    now, rows = newest(tickets), []
    for ticket in tickets:
        points, reasons = score(ticket, now, rules)
        priority = next(p for p in rules["priorities"] if points >= p["from"])
        rows.append(
            {
                "id": ticket["id"],
                "priority": priority["name"],
                "score": points,
                "topic": topic_of(ticket, rules),
                "status": ticket.get("status", "open"),
                "customer": ticket.get("customer", ""),
                "subject": ticket["subject"],
                "created_at": ticket["created_at"],
                "reasons": reasons,
            }
        )
    return sorted(rows, key=lambda r: (-r["score"], r["created_at"], r["id"])), now


def summarize(rows, now, rules):
    waiting = [r for r in rows if r["status"] == "open"]
    counts = collections.Counter(r["priority"] for r in waiting)
    topics = collections.Counter(r["topic"] for r in waiting)
    queue = [{k: r[k] for k in ("id", "priority", "score", "topic", "subject", "reasons")} for r in waiting[:QUEUE_LENGTH]]
    return {
        "tickets": len(rows),
        "open": len(waiting),
        "as_of": now.isoformat().replace("+00:00", "Z") if now else None,
        "priorities": {p["name"]: counts[p["name"]] for p in rules["priorities"]},
        "topics": dict(sorted(topics.items(), key=lambda t: (-t[1], t[0]))),
        "queue": queue,
        "files": ["report.html", "tickets.csv"],
    }


def for_a_spreadsheet(value):
    """A cell that begins like a formula would be computed by the program that opens the file."""
    text = str(value)
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def write_csv(rows):
    columns = ("id", "priority", "score", "topic", "status", "customer", "subject", "created_at", "reasons")
    with open(OUT / "tickets.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in rows:
            writer.writerow([for_a_spreadsheet("; ".join(row[c]) if c == "reasons" else row[c]) for c in columns])


STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem;color:#1d2433}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.35rem .6rem;border-bottom:1px solid #d9dee8;vertical-align:top}
th{font-weight:600}.P1{color:#a3142a;font-weight:700}.P2{color:#a14a00;font-weight:600}small{color:#5a6478}h1 img{vertical-align:-6px;margin-right:.6rem}"""


def table_row(row):
    cells = (row["priority"], row["id"], row["topic"], row["customer"])
    plain = "".join(f"<td>{html.escape(str(c))}</td>" for c in cells[1:])
    reasons = html.escape(", ".join(row["reasons"]))
    return (
        f'<tr><td class="{html.escape(cells[0])}">{html.escape(cells[0])} <small>{row["score"]}</small></td>{plain}'
        f'<td>{html.escape(row["subject"])}<br><small>{reasons}</small></td></tr>'
    )


def write_report(rows, summary):
    mark = base64.b64encode((SKILL / "assets" / "mark.png").read_bytes()).decode()
    counts = ", ".join(f"{count} {name}" for name, count in summary["priorities"].items())
    body = "\n".join(table_row(r) for r in rows if r["status"] == "open")
    page = f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Support queue</title><style>{STYLE}</style>
<h1><img src="data:image/png;base64,{mark}" width="32" height="32" alt="">Support queue</h1>
<p>{summary["open"]} open of {summary["tickets"]} tickets: {counts}. <small>As of {html.escape(str(summary["as_of"]))}</small></p>
<table><tr><th>Priority<th>Ticket<th>Topic<th>Customer<th>Subject and reasons</tr>
{body}
</table></html>
"""
    (OUT / "report.html").write_text(page, encoding="utf-8")


def main():
    rules = json.loads((SKILL / "references" / "rules.json").read_text(encoding="utf-8"))
    try:
        tickets = json.load(sys.stdin)
        rows, now = judge(tickets, rules)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        sys.exit(f"analyze.py: the input is not an array of tickets ({type(error).__name__}: {error}); see assets/input-schema.json")
    summary = summarize(rows, now, rules)
    OUT.mkdir(parents=True, exist_ok=True)
    write_csv(rows)
    write_report(rows, summary)
    print(f"analyze.py: {summary['open']} open of {summary['tickets']} tickets", file=sys.stderr)
    json.dump(summary, sys.stdout, ensure_ascii=False, indent=2)
    print()


if __name__ == "__main__":
    main()
