"""Measures the time for reading hostile texts: `python -m benchmarks.hostile`.

Each shape is one piece repeated to 50,000 characters: people do not write such texts, but any caller may send them. The
table shows the milliseconds of CPU time for each, compared with an advertisement of that length.
"""

import argparse
import random
import time

from models.market.reference import reference
from models.reading.description import read_description

LENGTH, TIMES = 50_000, 3
PLAIN = """Senior Electrician (m/f/d)
Harbour Works, Antwerp, Belgium

About us
We build and repair cranes, and our team of forty people has done so for 25 years.

Your tasks
- You install and test control panels in the port of Antwerp.
- You read drawings and talk with the planners about what comes next.

Your profile
- At least 5 years of experience as an industrial electrician.
- Good knowledge of PLC programming and AutoCAD; Python is a plus.
- Fluent in Dutch, and good English.

What we offer
A permanent contract, 32 days of leave, and a company car.

"""
SHAPES = {
    "language lists": "fluent in English, French and Dutch ",
    "line breaks": "\n",
    "brackets": "((m/w/d",
    "digits": "7",
    "commas": "Manager, ",
    "a a a": "a ",
    "one long word": "a",
    "at signs": "info@www.",
    "bullets": "• - * ",
    "year patterns": "3 years experience, at least 5-7 years ",
    "city names": "Berlin, Paris in London ",
    "title words": "looking for a Senior Engineer Manager Nurse ",
    "company names": "at Siemens, Deutsche Bank or Google ",
    "alternating case": "aBcDeF GhIjK ",
    "open tags": "<p <b ",
    "entities": "&amp;&lt;&#8203;",
    "emoji": "👩🏽‍💻🚀",
    "combining marks": "e\u0301\u0302\u0303",
    "quotes": "“a” 'b' «c» ",
    "not not not": "not not no ",
    "or or or": "Java or Go or ",
    "spaces": " ",
    "capitals": "A B C D ",
    "skills": "Python, Java, SQL, ",
    "gender marks": "(m/w/d) ",
    "labels": "Location: ",
    "emphasis": "**a** _b_ ",
}
"""A piece to repeat, by the name of its shape."""


def distinct_words(seed: int, length: int = LENGTH) -> str:
    """Return words with a capital, each another: names that no memory holds."""
    draw = random.Random(seed)  # noqa: S311 - the same text in each run
    words = (f"{draw.choice('ABCDEFGHKLMNPRSTW')}{draw.randrange(10**6):06d}" for _ in range(length // 8))
    return " ".join(word[0] + "".join("aeiounrlst"[int(digit)] for digit in word[1:]) for word in words)


def hostile(piece: str, length: int = LENGTH) -> str:
    """Return a text of one piece, repeated to a length."""
    return (piece * (length // len(piece) + 1))[:length]


def cpu_ms(*texts: str) -> float:
    """Return the milliseconds of CPU that one reading takes: the least of these."""
    least = float("inf")
    for text in texts:
        began = time.process_time()
        read_description(text, reference=reference())
        least = min(least, time.process_time() - began)
    return 1000 * least


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="How long hostile texts are read.")
    parser.add_argument("--only", default="", help="the shapes whose name contains this")
    asked = parser.parse_args()
    read_description(PLAIN, reference=reference())
    print(f"{'an advertisement':20} {cpu_ms(*[hostile(PLAIN)] * TIMES):8.0f} ms")
    print(f"{'distinct words':20} {cpu_ms(*map(distinct_words, range(TIMES))):8.0f} ms", flush=True)
    for name, piece in SHAPES.items():
        if asked.only in name:
            print(f"{name:20} {cpu_ms(*[hostile(piece)] * TIMES):8.0f} ms", flush=True)


if __name__ == "__main__":
    main()
