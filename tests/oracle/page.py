"""Reads a page as strict XML and as HTML: both have to see the same elements.

Usage: page.py FILE; prints what is on it as JSON.
"""

import json
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Elements(HTMLParser):
    """The names of all elements in their order, and whether each is closed where it should be."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.names, self.open = [], []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.names.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"{tag} is closed in {self.open}"
        self.open.pop()


def text(element):
    return " ".join("".join(element.itertext()).split())


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        page = file.read()
    root = ElementTree.fromstring(page)
    elements = Elements()
    elements.feed(page)
    elements.close()
    assert not elements.open, elements.open
    names = [element.tag.lower() for element in root.iter()]
    assert elements.names == names, "an HTML parser sees other elements than an XML parser"
    body = root.find("body")
    for script in [script for parent in root.iter() for script in parent if script.tag == "script"]:
        script.text = ""
    answer = {
        "title": text(root.find("head/title")),
        "text": text(body),
        "tables": {
            region.get("aria-label"): [
                [text(cell) for cell in row] for row in region.iter("tr")
            ]
            for region in body.iter("div")
            if region.get("class") == "scroll"
        },
        "tiles": [[text(part) for part in tile] for tile in body.iter("li") if len(tile) == 2],
        "heads": [[e.tag, text(e)] for e in body.iter() if e.tag in ("h1", "h2", "h3", "h4")],
        "attributes": [
            [element.tag, name, value]
            for element in root.iter()
            for name, value in element.attrib.items()
        ],
        "details": len(list(body.iter("details"))),
        "state": next(text(e) for e in body.iter("span") if (e.get("class") or "").startswith("state")),
    }
    json.dump(answer, sys.stdout)


main()
